#!/usr/bin/env node
// Imports of large files by the built program, into a library on disk: seconds, rows a second, memory; then the same file again.
//   node bench/imports.mjs [--clippings 20000] [--highlights 50000]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const { values } = parseArgs({
  options: {
    clippings: { type: 'string', default: '20000' },
    highlights: { type: 'string', default: '50000' },
  },
})
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'commonplace-bench-imports-'))
const parts = join(folder, 'parts.mjs')
await build({
  entryPoints: [fileURLToPath(new URL('imports-parts.ts', import.meta.url))],
  outfile: parts,
  format: 'esm',
  platform: 'node',
})
const { kindleClippings, readwiseCsv } = await import(parts)

/** Runs the program and watches its memory (Linux). */
function run(library, ...args) {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, [program, 'import', ...args, '--library', library, '--json'], {
      env: { ...process.env, COMMONPLACE_EMBEDDER: 'off' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    let peak = 0
    let ticks = 0
    child.stdout.on('data', (text) => (output += text))
    const watch = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
        const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
        ticks = Math.max(ticks, Number(stat[11]) + Number(stat[12]))
      } catch {
        // It has ended, or there is no such file here.
      }
    }, 20)
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(watch)
      if (code !== 0) return reject(new Error(`import ended with ${code}`))
      const { counts } = JSON.parse(output).imports[0]
      resolve({
        seconds: (performance.now() - began) / 1000,
        megabytes: peak / 1024,
        cpu: ticks / 100,
        counts,
      })
    })
  })
}

try {
  console.log(
    '| file | seconds | of which CPU | highlights/s | peak memory, MB | again, seconds | of which CPU | again, new |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const [name, text] of [
    [`Kindle, ${values.clippings} clippings`, kindleClippings(Number(values.clippings))],
    [`Readwise CSV, ${values.highlights} highlights`, readwiseCsv(Number(values.highlights))],
  ]) {
    const file = join(folder, 'file')
    writeFileSync(file, text)
    const library = join(folder, `library-${name.slice(0, 3)}`)
    const first = await run(library, file)
    const again = await run(library, file)
    const { highlights } = first.counts
    console.log(
      `| ${name} | ${first.seconds.toFixed(1)} | ${first.cpu.toFixed(1)} | ${Math.round(highlights / first.seconds).toLocaleString('en')} | ${Math.round(first.megabytes)} | ${again.seconds.toFixed(1)} | ${again.cpu.toFixed(1)} | ${again.counts.highlights + again.counts.notes + again.counts.sources} |`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
