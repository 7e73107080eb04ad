/** A small web site for captures, with a page that takes its time. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Site {
  origin: string
  /** The environment in which the program may capture from here. */
  env: Record<string, string>
  /** How many requests for a path are under way. */
  open(path: string): number
  /** How many there were in all. */
  asked(path: string): number
  /** Answers what waits for a `/slow…` page, and all that ask for it later; without a path, what waits for any. */
  release(path?: string): void
  close(): Promise<void>
}

const SENTENCES = [
  'The heron waits in the shallows until the minnows forget that it is there.',
  'A reader keeps what was worth the time, and the words of others are kept with care.',
  'Every margin is a place where two people meet who will never see each other.',
  'Nothing that was marked is lost, and nothing that was lost is marked again.',
]

/** “once only” stands there once, “again and again” three times. */
export const page = (title: string, count = 12): string => {
  const paragraphs = Array.from({ length: count }, (_, i) => {
    const words = `Paragraph ${i} of ${title}. ${SENTENCES[i % 4]} ${SENTENCES[(i + 1) % 4]}`
    const repeated = i < 3 ? ' It is read again and again.' : ''
    return `<p>${words}${repeated}${i === 0 ? ' This is said once only.' : ''}</p>`
  })
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><article><h1>${title}</h1>${paragraphs.join('')}</article></body></html>`
}

/** `/missing…` is a 404, `/slow…` waits to be released, everything else is an essay with its path for a title. */
export async function openSite(): Promise<Site> {
  const waiting: { path: string; go: () => void }[] = []
  const released = new Set<string>()
  const open = new Map<string, number>()
  const asked = new Map<string, number>()
  const add = (counts: Map<string, number>, path: string, by: number): void =>
    void counts.set(path, (counts.get(path) ?? 0) + by)
  const answer = (response: ServerResponse, path: string): void => {
    if (response.destroyed) return
    const missing = path.startsWith('/missing')
    response.writeHead(missing ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(missing ? 'Not found' : page(`Essay ${path.slice(1)}`))
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    add(open, path, 1)
    add(asked, path, 1)
    response.once('close', () => add(open, path, -1))
    const go = () => answer(response, path)
    if (path.startsWith('/slow') && !released.has(path)) waiting.push({ path, go })
    else go()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    env: { COMMONPLACE_ALLOW_HOSTS: `127.0.0.1:${port}` },
    open: (path) => open.get(path) ?? 0,
    asked: (path) => asked.get(path) ?? 0,
    release(path) {
      if (path !== undefined) released.add(path)
      for (const request of waiting) if (path === undefined || path === request.path) request.go()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
