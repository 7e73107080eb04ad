/** What is deployed from `deploy/` names what there is: files, variables, versions, addresses. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readServerConfig, SECRET_VARIABLES } from '../../src/config/server.ts'
import { SERVER_VARIABLES } from '../../src/config/server-variables.ts'
import { read, ROOT } from './documents.ts'

const files = readdirSync(join(ROOT, 'deploy')).map((name) => join('deploy', name))
const facts = JSON.parse(read('package.json')) as {
  engines: { node: string }
  scripts: Record<string, string>
}

it.each(files)('%s names only variables that the server reads', (file) => {
  const known = new Set([...SERVER_VARIABLES, ...SECRET_VARIABLES.map((name) => `${name}_FILE`)])
  for (const [name] of read(file).matchAll(/COMMONPLACE_[A-Z\d_]+/g)) expect(known.has(name), name).toBe(true)
})

describe('the image', () => {
  const text = read('deploy/Dockerfile')
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) => from.split(' '))

  it('is made of files that there are, and that the context has', () => {
    const allowed = new Set(
      [...read('deploy/Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path),
    )
    expect(copied.length).toBeGreaterThan(5)
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true)
      expect(allowed.has(path), path).toBe(true)
    }
    expect([...allowed].filter((path) => path === undefined || !copied.includes(path))).toEqual([])
  })

  it('has the Node that the program wants, by its major version alone', () => {
    const least = /^>=(\d+)\.\d+$/.exec(facts.engines.node)?.[1]
    const images = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    expect(new Set(images)).toEqual(new Set([`node:${least}-slim`]))
  })

  it('does not run as root, and ends as the program wants to be told', () => {
    expect(text).toMatch(/^USER node$/m)
    expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m)
    expect(text).toMatch(/^HEALTHCHECK .*\/readyz/m)
    expect(text.lastIndexOf('USER node')).toBeGreaterThan(text.lastIndexOf('\nRUN '))
  })

  it('is configured in a way that the program takes', () => {
    const env = Object.fromEntries(
      [...(/^ENV (NODE_ENV.*)$/m.exec(text)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [
        name!,
        value!,
      ]),
    )
    expect(readServerConfig(env)).toMatchObject({ host: '0.0.0.0', port: 3210, dataFolder: '/data' })
    expect(text).toMatch(/^EXPOSE 3210$/m)
    expect(text).toMatch(/^VOLUME \/data$/m)
  })
})

interface Compose {
  services: Record<string, Service>
  volumes?: Record<string, unknown>
  configs?: Record<string, { content: string }>
}

interface Service {
  image?: string
  build?: { context: string; dockerfile: string }
  environment?: Record<string, string>
  env_file?: string
  volumes?: string[]
  depends_on?: Record<string, unknown>
  ports?: string[]
  configs?: { source: string }[]
  healthcheck?: unknown
  command?: string | string[]
  stop_grace_period?: string
}

/** What Compose makes of `${NAME:-default}` and `${NAME:?words}`; throws where a variable is wanted and missing. */
const substitute = (text: string, env: Record<string, string>): string =>
  text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind?: string, rest = '') => {
    if (env[name]) return env[name]
    if (kind === '-') return rest
    throw new Error(name)
  })

describe.each(['deploy/compose.yaml', 'deploy/compose.sqlite.yaml'])('%s', (file) => {
  const text = read(file)
  const { services, volumes = {}, configs = {} } = parse(text) as Compose

  it('holds together', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service.image, name).toBeDefined()
      for (const other of Object.keys(service.depends_on ?? {})) expect(services).toHaveProperty(other)
      for (const volume of service.volumes ?? []) expect(volumes).toHaveProperty(volume.split(':')[0]!)
      for (const { source } of service.configs ?? []) expect(configs).toHaveProperty(source)
      // What the outside does not have to reach is not reached.
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
      if (name !== 'server') expect(service.image).toMatch(/:[\d.]+$/)
    }
    const { server } = services
    expect(existsSync(join(ROOT, 'deploy', server!.build!.context, server!.build!.dockerfile))).toBe(true)
    // Longer than the server takes to end.
    expect(server!.stop_grace_period).toBe('15s')
  })

  it('starts a server that takes its configuration', () => {
    const given = Object.fromEntries(
      [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => [
        name!,
        `${name}-that-is-long-enough-for-a-secret`,
      ]),
    )
    if (given['COMMONPLACE_URL']) given['COMMONPLACE_URL'] = 'https://books.example.org'
    const env = Object.fromEntries(
      Object.entries(services['server']?.environment ?? {}).map(([name, value]) => [
        name,
        substitute(value, given),
      ]),
    )
    expect(() => readServerConfig(env)).not.toThrow()
  })
})

describe('secrets', () => {
  const text = read('deploy/compose.yaml')
  const example = read('deploy/example.env')

  it('have no default: without one of them nothing starts', () => {
    const wanted = [...new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!))]
    expect(wanted.toSorted()).toEqual(
      ['COMMONPLACE_SECRET', 'COMMONPLACE_URL', 'DATABASE_PASSWORD', 'S3_KEY', 'S3_SECRET'].toSorted(),
    )
    for (const name of wanted) {
      expect(example).toMatch(new RegExp(`^${name}=$`, 'm'))
      const others = Object.fromEntries(wanted.filter((one) => one !== name).map((one) => [one, 'x']))
      expect(() => substitute(text, others)).toThrow(name)
    }
  })

  it('stand in none of the files', () => {
    for (const file of files)
      expect(read(file), file).not.toMatch(/^\s*#?\w*(PASSWORD|SECRET|KEY|TOKEN)\w*[=:] *(?!\$)[\w-]{12,}$/m)
  })
})

describe('the service', () => {
  const unit = read('deploy/commonplace.service')

  it('starts the program as the page says it is installed', () => {
    expect(unit).toContain('ExecStart=/usr/bin/node /opt/commonplace/dist/main.js serve')
    expect(read('docs/self-hosting.md')).toContain('/opt/commonplace')
    expect(facts.scripts['build']).toBe('node scripts/build.mjs')
  })

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('is one that systemd takes', () => {
    const path = join(ROOT, 'deploy/commonplace.service')
    const { stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    // Where it is checked, the program need not be installed.
    expect(
      stderr
        .split('\n')
        .filter((line) => /commonplace\.service/.test(line) && !/ExecStart|Command/.test(line)),
    ).toEqual([])
  })
})

it.skipIf(spawnSync('caddy', ['version']).status !== 0)('the Caddyfile is one that Caddy takes', () => {
  const path = join(ROOT, 'deploy/Caddyfile')
  expect(spawnSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', path]).status).toBe(0)
})

it('npm start serves', () => {
  expect(facts.scripts['start']).toMatch(/ && node dist\/main\.js serve$/)
})
