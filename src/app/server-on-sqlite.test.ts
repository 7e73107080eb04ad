import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readServerConfig } from '../config/server.ts'
import { openServer } from './open-server.ts'
import { ACCOUNTS_FILE } from './server-on-sqlite.ts'

it('a damaged file of accounts is told to whoever runs the server, with what to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-accounts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, ACCOUNTS_FILE), 'no database, but long enough to be taken for one. '.repeat(100))
  const config = readServerConfig({ COMMONPLACE_DATA: folder })
  await expect(openServer(config, { base: 'http://localhost:1' })).rejects.toMatchObject({
    code: 'library_damaged',
    message: expect.stringContaining(ACCOUNTS_FILE),
    hint: expect.stringMatching(/^Stop the server and put its data folder back/),
  })
})
