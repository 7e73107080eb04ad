#!/usr/bin/env node
// What goes out and comes back: export_highlights page by page, the CSV as a file, an archive and its import, a folder of
// Markdown, on a made-up library on SQLite; rows a second, and how much memory the process takes at most.
//   node --expose-gc bench/exports.mjs [--highlights 100000] [--sources 2000] [--limit 1000] [--csv]
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    highlights: { type: 'string', default: '100000' },
    sources: { type: 'string', default: '2000' },
    limit: { type: 'string', default: '1000' },
    csv: { type: 'boolean', default: false },
  },
})
const [highlights, sources, limit] = [values.highlights, values.sources, values.limit].map(Number)
const bench = await bundle('bench/exports-parts.ts')
const folder = mkdtempSync(join(tmpdir(), 'exports-bench-'))
const openAt = (name) =>
  bench.openLocal(
    bench.readLocalConfig({ COMMONPLACE_LIBRARY: join(folder, name), COMMONPLACE_EMBEDDER: 'off' }),
  )

/** Rows a second, and the most memory above what was taken before. */
async function measure(what, rows, work) {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const cpu = process.cpuUsage()
  const begun = performance.now()
  const said = await work()
  const seconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(watch)
  most = Math.max(most, process.memoryUsage().rss)
  console.log(
    `${what}: ${Math.round(rows / seconds).toLocaleString('en')} rows/s (${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of a processor), ` +
      `${Math.round((most - before) / 2 ** 20)} MiB more${said ? `; ${said}` : ''}`,
  )
}

const local = await openAt('library')
try {
  console.log(`${highlights.toLocaleString('en')} highlights in ${sources.toLocaleString('en')} sources`)
  await bench.fillExports(local.library, highlights, sources)
  const call = {
    scopes: bench.allScopes,
    signal: new AbortController().signal,
    connection: 'bench',
    progress: () => {},
  }
  for (const size of [limit, 500]) {
    await measure(`export_highlights, ${size} a page`, highlights, async () => {
      const pages = []
      for (let cursor; cursor !== null;) {
        const began = performance.now()
        const { output } = await bench.callTool(
          bench.exportHighlights,
          local.library,
          { limit: size, ...(cursor && { cursor }) },
          call,
        )
        pages.push(performance.now() - began)
        cursor = output.nextCursor
      }
      const sorted = pages.toSorted((a, b) => a - b)
      return `page p50 ${sorted[sorted.length >> 1].toFixed(1)} ms, p95 ${sorted[Math.floor(sorted.length * 0.95)].toFixed(1)} ms`
    })
  }
  if (!values.csv) {
    await measure('highlights.csv', highlights, async () => {
      let bytes = 0
      for await (const piece of bench.writeHighlightCsv(local.library.db)) bytes += piece.length
      return `${(bytes / 1e6).toFixed(1)} MB`
    })
    const archive = join(folder, 'library.zip')
    await measure('archive', highlights, async () => {
      const file = await open(archive, 'w')
      for await (const part of bench.writeArchive(local.library, { from: 'bench', now: () => new Date() }))
        await file.write(part)
      await file.close()
    })
    const handle = await open(archive)
    const { size } = await handle.stat()
    const bytes = {
      size,
      async read(from, to) {
        const buffer = Buffer.alloc(to - from)
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, from)
        return buffer.subarray(0, bytesRead)
      },
    }
    const other = await openAt('other')
    await measure('import of the archive, its search index included', highlights, async () => {
      const { rows } = await bench.importArchive(other.library, bytes)
      return `${rows.highlights} highlights, ${(size / 1e6).toFixed(1)} MB packed`
    })
    await other.close()
    await handle.close()
    for (const what of ['folder of Markdown', 'the same folder again'])
      await measure(what, highlights, async () => {
        const { made, changed, same } = await bench.exportFolder(local.library, join(folder, 'notes'))
        return `${made} files made, ${changed} changed, ${same} the same`
      })
  }
} finally {
  await local.close()
  rmSync(folder, { recursive: true, force: true })
}
