// Installs the packed tarball into an empty folder, as a stranger does, and uses it from there.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'commonplace-package-'))
const home = join(folder, 'home')
const project = join(folder, 'project')
mkdirSync(home)
mkdirSync(project)

const say = (line) => process.stdout.write(`${line}\n`)

let facts
let passed = 0
let failed = 0
function check(ok, what, detail = '') {
  if (ok) passed++
  else {
    failed++
    say(`failed: ${what}${detail ? `\n${detail}` : ''}`)
  }
}

const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'data'), NO_COLOR: '1' }
for (const name of ['COMMONPLACE_LIBRARY', 'COMMONPLACE_DEBUG', 'NODE_PATH', 'npm_config_local_prefix'])
  delete env[name]

// On Linux the native runtime's install script would fetch hundreds of megabytes for graphics cards.
env['ONNXRUNTIME_NODE_INSTALL'] = 'skip'

const npm = (cwd, ...args) =>
  execFileSync('npm', args, {
    cwd,
    env: { ...env, HOME: process.env.HOME },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const commonplace = (...args) => {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'commonplace', ...args], {
    cwd: project,
    env,
    encoding: 'utf8',
    timeout: 180_000,
  })
  return { status, stdout, stderr, all: `exit ${status}\n${stdout}\n${stderr}` }
}

try {
  const [packed] = JSON.parse(
    npm(root, 'run', '--silent', 'pack', '--', '--json', '--silent', '--pack-destination', folder).replace(
      /^[^[]*/s,
      '',
    ),
  )
  const files = new Set(packed.files.map(({ path }) => path))
  for (const wanted of [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'NOTICE',
    'dist/main.js',
    'dist/article-worker.js',
    'dist/epub-worker.js',
    'dist/pdf-worker.js',
    'dist/embedding-worker.js',
    'dist/model/use-lite.onnx',
    'dist/model/vocabulary.bin',
    'dist/model/LICENSE',
    'dist/ort/ort.mjs',
  ])
    check(files.has(wanted), `${wanted} is in the package`)
  for (const ending of ['.html', '.pdf', '.epub'])
    check(
      [...files].some((path) => path.startsWith('samples/') && path.endsWith(ending)),
      `a sample ${ending} is in the package`,
    )
  const stray = [...files].filter((path) => /^(?:src|test|scripts|bench|docs)\/|\.test\.|\.map$/.test(path))
  say(
    `${packed.filename}: ${(packed.size / 1e6).toFixed(1)} MB, ${(packed.unpackedSize / 1e6).toFixed(1)} MB unpacked, ${files.size} files`,
  )
  check(stray.length === 0, 'nothing of the sources is in the package', stray.join('\n'))

  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  npm(project, 'install', '--no-audit', '--no-fund', '--loglevel=error', join(folder, packed.filename))
  const installed = join(project, 'node_modules', 'commonplace')
  for (const file of readdirSync(join(installed, 'dist'))) {
    const path = join(installed, 'dist', file)
    if (statSync(path).isFile() && file.endsWith('.js'))
      check(
        !readFileSync(path, 'utf8').includes(root.replace(/\/$/, '')),
        `${file} names no path of the machine that built it`,
      )
  }
  for (const words of ['stdTimeFunctions', 'collectDefaultMetrics', 'createTransport'])
    check(
      !loadedAtStart(join(installed, 'dist')).includes(words),
      `what an assistant starts does not load what only a server needs (${words})`,
    )
  check(!existsSync(join(project, 'node_modules', 'zod')), 'what is bundled is not installed as well')

  facts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const version = commonplace('--version')
  check(version.status === 0 && version.stdout.trim() === facts.version, '--version', version.all)

  const welcome = commonplace('welcome', '--json')
  const shown = welcome.status === 0 ? JSON.parse(welcome.stdout) : {}
  check(welcome.status === 0, 'welcome ends well', welcome.all)
  check(shown.samples?.length === 3, 'welcome captures three samples', welcome.all)
  check(
    ['meaning', 'both'].includes(shown.search?.results?.[0]?.matched) &&
      shown.search?.meta?.note === undefined,
    'welcome searches by meaning',
    welcome.all,
  )
  check(shown.library?.startsWith(home), 'the library is made under the home folder', welcome.all)
  const again = commonplace('welcome', '--json')
  check(
    again.status === 0 && JSON.parse(again.stdout).added === 0,
    'running it again adds nothing',
    again.all,
  )

  const search = commonplace('search', 'notebook')
  check(search.status === 0 && /commonplace book/i.test(search.stdout), 'search', search.all)

  writeFileSync(
    join(project, 'note.md'),
    '# A note\n\nThe heron stood in the shallows until the tide turned.\n',
  )
  const add = commonplace('add', 'note.md', '--wait')
  check(add.status === 0 && add.stdout.includes('A note'), 'add FILE --wait', add.all)

  const doctor = commonplace('doctor', '--json')
  const sick =
    doctor.status === 0 ? [] : JSON.parse(doctor.stdout).findings.filter(({ state }) => state === 'bad')
  check(doctor.status === 0, 'doctor finds all well', JSON.stringify(sick, null, 2) + doctor.stderr)

  const reply = await initialize()
  check(
    reply?.result?.serverInfo?.name === 'commonplace',
    'an assistant is answered over stdio',
    JSON.stringify(reply),
  )
  check(reply?.result?.serverInfo?.version === facts.version, 'the server says the version of the package')

  await serve()
  const users = commonplace('admin', 'users', '--json')
  check(users.status === 0, 'the operator sees the readers', users.all)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 400 })
}
say(`package: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** The code that `commonplace mcp` reads before it can answer. */
function loadedAtStart(dist) {
  const seen = new Set()
  const read = (file) => {
    if (seen.has(file)) return ''
    seen.add(file)
    const text = readFileSync(join(dist, file), 'utf8')
    const parts = [...text.matchAll(/(?:^|[;}\n])(?:import|export)\b[^;'"()]*["']\.\/([\w.-]+\.js)["']/g)]
    return [text, ...parts.map(([, part]) => read(part))].join('\n')
  }
  return read('main.js') + read('start.js')
}

/** Starts the server from the package, looks whether it is ready and counts, and ends it. */
async function serve() {
  const token = 'a-token-of-this-test'
  const child = spawn(process.execPath, [join(project, 'node_modules/commonplace/dist/main.js'), 'serve'], {
    cwd: project,
    env: { ...env, COMMONPLACE_PORT: '0', COMMONPLACE_METRICS_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const ended = new Promise((resolve) => child.once('close', resolve))
  const base = await new Promise((resolve) => {
    const listen = (chunk) => {
      said += chunk
      const found = /Commonplace is at (\S+)\n/.exec(said)?.[1]
      if (found) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', listen)
    child.stderr.setEncoding('utf8').on('data', listen)
    void ended.then(() => resolve(undefined))
  })
  check(base !== undefined, 'the server starts', said)
  if (base) {
    check((await fetch(`${base}/readyz`)).status === 200, 'the server is ready')
    const metrics = await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    const version = `commonplace_info{version="${facts.version}"} 1`
    check((await metrics.text()).includes(version), 'the server tells its version')
    child.kill('SIGTERM')
  }
  check((await ended) === 0, 'the server ends in order', said)
}

/** What `npx commonplace mcp` answers to a client that says hello. */
function initialize() {
  return new Promise((resolve) => {
    const child = spawn('npx', ['--no-install', 'commonplace', 'mcp'], {
      cwd: project,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const timer = setTimeout(() => child.kill(), 60_000)
    createInterface({ input: child.stdout }).once('line', (line) => {
      child.stdin.end()
      try {
        resolve(JSON.parse(line))
      } catch {
        resolve({ line })
      }
    })
    child.on('exit', () => {
      clearTimeout(timer)
      resolve(undefined)
    })
    child.stdin.write(
      `${JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'smoke', version: '1' },
        },
      })}\n`,
    )
  })
}
