import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openServer } from '../src/app/open-server.ts'
import { readServerConfig } from '../src/config/server.ts'
import { SCOPES } from '../src/core/define-tool.ts'
import { makePersonalToken } from '../src/features/accounts/personal-token-store.ts'
import { addReader } from '../src/features/accounts/reader-store.ts'
import { requestCapture, storeGiven } from '../src/features/capture/capture-source.ts'

/** A word that every fiftieth source has. */
export const wordOf = (n: number): string => `minnow${n % 50}`

/** Makes a data folder with so many readers of so many sources each; gives a token for each reader. */
export async function fillServer(dataFolder: string, readers: number, sources: number): Promise<string[]> {
  const config = readServerConfig({ COMMONPLACE_DATA: dataFolder, COMMONPLACE_EMBEDDER: 'off' })
  const server = await openServer(config, { base: 'http://localhost' })
  const tokens: string[] = []
  for (let n = 0; n < readers; n++) {
    const { id } = n === 0 ? server.first.reader : await addReader(server.accounts, {})
    const made = await makePersonalToken(server.accounts, id, { name: 'bench', scopes: SCOPES })
    tokens.push(made.token)
    await server.libraries.use(id, async ({ library }) => {
      for (let s = 0; s < sources; s++) {
        const text = `# Essay ${s}\n\nThe heron of essay ${s} stands in the shallows and waits for ${wordOf(s)}.\n`
        const given = await storeGiven(library, Buffer.from(text), `essay-${s}.md`)
        await library.change((change) => requestCapture(change, { given }))
      }
    })
  }
  await server.work().drained()
  await server.close()
  return tokens
}

/** Adds so many readers, each with a copy of the first reader's library, to a data folder that nobody has open. */
export async function addCopies(dataFolder: string, readers: number): Promise<string[]> {
  const config = readServerConfig({ COMMONPLACE_DATA: dataFolder, COMMONPLACE_EMBEDDER: 'off' })
  const server = await openServer(config, { base: 'http://localhost' })
  const tokens: string[] = []
  for (let n = 0; n < readers; n++) {
    const { id, library } = await addReader(server.accounts, {})
    const made = await makePersonalToken(server.accounts, id, { name: 'bench', scopes: SCOPES })
    tokens.push(made.token)
    const folder = join(dataFolder, 'libraries', library)
    mkdirSync(folder, { recursive: true })
    copyFileSync(join(config.firstLibrary, 'library.db'), join(folder, 'library.db'))
  }
  await server.close()
  return tokens
}
