#!/usr/bin/env node
// Every measurement, one after the other: `npm run bench`. docs/performance.md has the results of one run.
//   npm run bench -- [--only start,search] [--articles DIR] [--paraphrases FILE] [--large]
// --articles and --paraphrases name corpora that do not come with the project; --large adds a million passages.
import { spawnSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    articles: { type: 'string' },
    paraphrases: { type: 'string' },
    large: { type: 'boolean', default: false },
  },
})
const runs = [
  ['start', ['--idle', '5']],
  ['embedding', ['--runtime', 'both', ...(values.paraphrases ? ['--corpus', values.paraphrases] : [])]],
  ['vectors', []],
  ['search', ['--passages', values.large ? '1000,100000,1000000' : '1000,100000']],
  ['highlights', ['--highlights', values.large ? '100000,1000000' : '100000']],
  ...(values.paraphrases ? [['search-quality', [values.paraphrases]]] : []),
  ['capture', []],
  ['imports', []],
  ['serve', []],
  ['libraries', []],
  ['exports', []],
  ['fuzz', []],
  ['replicas', []],
  ...(values.articles ? [['extraction', ['--corpus', values.articles]]] : []),
  ['passages', values.articles ? ['--corpus', values.articles] : []],
]
const chosen = values.only?.split(',')

spawnSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))], {
  stdio: 'inherit',
})
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, node ${process.version}, ${process.platform}`,
)
let failed = false
for (const [name, args] of runs) {
  if (chosen && !chosen.includes(name)) continue
  console.log(`\n## ${name}\n`)
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url))
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' })
  if (status !== 0) failed = true
}
process.exitCode = failed ? 1 : 0
