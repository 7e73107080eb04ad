import { openServer } from '../src/app/open-server.ts'
import { readServerConfig } from '../src/config/server.ts'
import { SCOPES } from '../src/core/define-tool.ts'
import { makePersonalToken } from '../src/features/accounts/personal-token-store.ts'
import { addReader } from '../src/features/accounts/reader-store.ts'
import { requestCapture, storeGiven } from '../src/features/capture/capture-source.ts'

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
        const text = `# Essay ${s}\n\nThe heron of essay ${s} stands in the shallows and waits for minnows.\n`
        const given = await storeGiven(library, Buffer.from(text), `essay-${s}.md`)
        await library.change((change) => requestCapture(change, { given }))
      }
    })
  }
  await server.work().drained()
  await server.close()
  return tokens
}
