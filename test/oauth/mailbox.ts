import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface Received {
  from: string
  to: string[]
  subject: string
  headers: string
  text: string
}

/** A mail server that takes every letter and keeps it. */
export interface Mailbox {
  url: string
  letters: Received[]
  /** The first letter to this address that was not asked for yet. */
  letterTo(email: string): Promise<Received>
  /** Its one link. */
  linkTo(email: string): Promise<string>
  /** Refuses letters from now on. */
  refuse(reason: string | undefined): void
  stop(): Promise<void>
}

export async function openMailbox(): Promise<Mailbox> {
  const letters: Received[] = []
  const given = new Set<Received>()
  let refusal: string | undefined
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (refusal !== undefined) return done(new Error(refusal))
        const { mailFrom, rcptTo } = session.envelope
        letters.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...readLetter(Buffer.concat(chunks).toString('latin1')),
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo

  async function letterTo(email: string): Promise<Received> {
    for (let tries = 0; tries < 400; tries++) {
      const found = letters.find((one) => one.to.includes(email) && !given.has(one))
      if (found) {
        given.add(found)
        return found
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`no letter came for ${email}`)
  }

  return {
    url: `smtp://127.0.0.1:${port}`,
    letters,
    letterTo,
    async linkTo(email) {
      const { text } = await letterTo(email)
      const links = text.match(/https?:\/\/\S+/g) ?? []
      if (links.length !== 1) throw new Error(`a letter has one link, this has ${links.length}`)
      return links[0]!
    },
    refuse: (reason) => void (refusal = reason),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function readLetter(raw: string): Pick<Received, 'subject' | 'headers' | 'text'> {
  const at = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, at).replaceAll(/\r\n[ \t]+/g, ' ')
  const body = raw.slice(at + 4)
  const quoted = /^content-transfer-encoding: quoted-printable$/im.test(headers)
  const bytes = quoted
    ? body
        .replaceAll(/=\r\n/g, '')
        .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : body
  return {
    headers,
    subject: /^subject: (.*)$/im.exec(headers)?.[1] ?? '',
    text: Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n'),
  }
}
