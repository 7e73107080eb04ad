import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openWorkspace } from '../support/run-cli.ts'

const at = openWorkspace()
const home = join(at.folder, 'home')
const temporary = join(at.folder, 'temporary')
const work = join(at.folder, 'work')
for (const folder of [home, temporary, work]) mkdirSync(folder)
// A library that reports keeps what it has not sent yet, and the number it knows this computer by, in a folder of the user.
// Whatever keeps a library from reporting must be ours: not the variables of the machine that runs the tests.
for (const name of [
  'CI',
  'GITHUB_ACTIONS',
  'TF_BUILD',
  'DO_NOT_TRACK',
  'ORT_DISABLE_TELEMETRY',
  'ORT_RUNNING_UNIT_TESTS',
])
  Reflect.deleteProperty(at.env, name)
for (const name of ['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME'])
  Reflect.deleteProperty(at.env, name)
Object.assign(at.env, { HOME: home, USERPROFILE: home, TMPDIR: temporary, TEMP: temporary, TMP: temporary })
afterAll(() => at.remove())

describe('capturing, embedding and searching', () => {
  it('leave nothing but the library: no file in the home, the temporary or the working folder', async () => {
    writeFileSync(join(work, 'harbour.txt'), 'Ships lie in the harbour and wait for the tide to turn.\n')
    const added = await at.run(['add', 'harbour.txt', '--wait'], { cwd: work })
    await at.settled()
    const found = await at.run(['search', 'boats at anchor', '--json'], { cwd: work })
    expect([added.code, found.code]).toEqual([0, 0])
    expect(JSON.parse(found.stdout)).toMatchObject({ results: [{ title: 'harbour', matched: 'meaning' }] })
    expect([home, temporary, work].map((folder) => readdirSync(folder, { recursive: true }))).toEqual([
      [],
      [],
      ['harbour.txt'],
    ])
  })
})
