/** What is told of the server's variables is what the program says of them. */
import { describe, expect, it } from 'vitest'
import { explainServerConfig } from '../../src/config/explain-server.ts'
import { readServerConfig } from '../../src/config/server.ts'
import { rowOf, SERVER_VARIABLES } from '../../src/config/server-variables.ts'
import { read } from './documents.ts'

const page = read('docs/self-hosting.md')

/** What is in force where nothing is set, in the words of the page where it depends on the machine. */
const DEFAULTS: Record<string, string> = {
  COMMONPLACE_URL: '`http://localhost:` and the port',
  COMMONPLACE_DATA: 'the folder of your library ([configuration.md](configuration.md))',
}

const defaults = new Map(
  explainServerConfig(readServerConfig({}), {}).settings.map(({ name, value }) => [name, value]),
)

function rowFor(name: (typeof SERVER_VARIABLES)[number]): string {
  const { about, takes, secret } = rowOf(name)
  const value = DEFAULTS[name] ?? (secret ? 'not set' : (defaults.get(name) ?? 'none'))
  return `| \`${name}\` | ${about}${secret ? ' (*secret*)' : ''} | ${takes} | ${value} |`
}

describe('the table of variables', () => {
  it.each(SERVER_VARIABLES)('has %s as it is', (name) => {
    expect(page).toContain(`\n${rowFor(name)}\n`)
  })

  it('has no others', () => {
    const named = [...page.matchAll(/^\| `(COMMONPLACE_\w+)` \|/gm)].map(([, name]) => name)
    expect(named).toEqual([...SERVER_VARIABLES])
  })
})

it('names no variable that there is not', () => {
  const known = new Set<string>([...SERVER_VARIABLES, ...defaults.keys(), 'COMMONPLACE_DEBUG'])
  for (const [name] of page.matchAll(/COMMONPLACE_[A-Z\d_]+/g))
    expect(known.has(name.replace(/_FILE$/, '')), name).toBe(true)
})
