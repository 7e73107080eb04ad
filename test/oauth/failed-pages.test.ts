import { afterAll, beforeAll, expect, it } from 'vitest'
import { startOAuthServer, type TestServer } from './support.ts'

let server: TestServer
beforeAll(async () => (server = await startOAuthServer()))
afterAll(() => server.stop())

/** A page that is sent something else than a form. */
async function failedPage(path: string): Promise<{ status: number; html: string }> {
  const body = 'x'
  const answer = await fetch(`${server.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body,
  })
  return { status: answer.status, html: await answer.text() }
}

it('a page that could not be shown sends to an assistant only who came from one', async () => {
  const assistants = ['/oauth/authorize']
  const own = ['/sign-in', '/sign-in/mail', '/sign-in/passkey', '/sign-up', '/reset', '/confirm']
  for (const path of [...assistants, ...own]) {
    const { status, html } = await failedPage(path)
    expect([path, status]).toEqual([path, 400])
    expect([path, html.includes('Go back to the assistant')]).toEqual([path, assistants.includes(path)])
    expect(html).toMatch(/Go back to the (assistant|page)/)
  }
})
