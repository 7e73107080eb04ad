// What a server loads before its first answer, as one file: reading a module costs more than what stands in it.
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/** Name of the joined file in the build. */
export const START = 'start.js'

/**
 * Joins the chunk made for `source`, and all that it imports statically, into one file. Each of these chunks becomes a list of
 * what it gave, taken from there: whoever imports one has the very same functions and classes as before.
 */
export async function joinStart(dist, outputs, source, options) {
  const named = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source)
  if (!named) throw new Error(`no chunk for ${source}`)
  const chunks = new Set()
  const collect = (file) => {
    if (chunks.has(file)) return
    chunks.add(file)
    for (const { path, kind, external } of outputs[file].imports) {
      if (kind === 'import-statement' && !external) collect(path)
    }
  }
  collect(named[0])
  const exported = [...chunks].map((file, at) => ({
    file: `./${basename(file)}`,
    names: outputs[file].exports.map((name) => ({ name, joined: `${name}_${at}` })),
  }))
  const contents = exported
    .filter(({ names }) => names.length > 0)
    .map(
      ({ file, names }) =>
        `export { ${names.map(({ name, joined }) => `${name} as ${joined}`).join(', ')} } from '${file}'`,
    )
    .join('\n')
  const { outputFiles } = await build({
    ...options,
    stdin: { contents, resolveDir: dist, loader: 'js' },
    write: false,
    plugins: [
      {
        name: 'later-stays-apart',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\// }, ({ path, kind }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          ),
      },
    ],
  })
  writeFileSync(join(dist, START), outputFiles[0].contents)
  for (const { file, names } of exported) {
    const list = names.map(({ name, joined }) => `${joined} as ${name}`).join(', ')
    writeFileSync(
      join(dist, file),
      names.length > 0 ? `export { ${list} } from './${START}'\n` : `import './${START}'\n`,
    )
  }
}
