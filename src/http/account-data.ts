import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { exportAccount, exportName } from '../app/export-account.ts'
import type { OpenServer } from '../app/open-server.ts'
import { Failure } from '../core/failure.ts'
import { toFailure } from '../core/to-failure.ts'
import { hasPassword, isOwnPassword } from '../features/accounts/identity.ts'
import { countAttempt } from '../features/accounts/rate-counter-store.ts'
import { creditsOf } from '../features/credits/credits.ts'
import { leaveFeedback, MOST_FEEDBACK } from '../features/feedback/feedback.ts'
import { redirect } from './oauth/endpoint.ts'
import { OAuthError } from './oauth/oauth-error.ts'
import { markup, sendPage, type Markup } from './oauth/page.ts'
import { readForm } from './oauth/read-body.ts'
import { statusOf } from './problem.ts'
import { finishSession, isFresh, isFromOurPage, readSession, type Session } from './session.ts'

export interface AccountDataParts {
  server: Pick<
    OpenServer,
    'accounts' | 'libraries' | 'configured' | 'storageOf' | 'isLocal' | 'removeLibrary'
  >
  /** Network address of whoever sent a request. */
  addressOf(req: IncomingMessage): string
  onError(error: unknown, where: string): void
}

type Handler = (req: IncomingMessage, res: ServerResponse, session: Session) => Promise<void>

/**
 * The pages on which a reader sees how much they have stored, takes everything with them, writes to the operator, and deletes
 * their account. Gives false for what is none of them; never throws.
 */
export function createAccountData({ server, addressOf, onError }: AccountDataParts) {
  const { accounts } = server

  const pages: Record<string, Partial<Record<'GET' | 'POST', Handler>>> = {
    '/account/data': { GET: (_req, res, session) => sendData(res, session) },
    '/account/export': { GET: sendExport },
    '/account/feedback': { POST: takeFeedback },
    '/account/delete': { GET: (_req, res, session) => sendDelete(res, session), POST: deleteAccount },
  }

  async function sendData(res: ServerResponse, session: Session, said?: Said): Promise<void> {
    const { id } = session.reader
    const { mediaBytes, textBytes, quotaBytes } = await server.storageOf(id)
    const credits = await creditsOf(accounts, id, server.configured)
    const used = mediaBytes + textBytes
    sendPage(
      res,
      'Your data',
      markup`${told(said)}
<p><a href="/account">Your account</a></p>
<h2>Storage</h2>
<p>${megabytes(mediaBytes)} of pages and files, ${megabytes(textBytes)} of texts.${
        quotaBytes > 0 &&
        markup`
That is ${Math.round((used / quotaBytes) * 100)} % of your ${megabytes(quotaBytes)}.`
      }</p>
${
  quotaBytes > 0 && markup`<p><meter min="0" max="${quotaBytes}" value="${used}"></meter></p>`
}${quotaBytes > 0 && used >= quotaBytes && markup`<p role="alert">Nothing new can be captured until there is room.</p>`}
<h2>AI credits</h2>
<p>${credits.left} left of ${credits.allowance + credits.granted} this month.</p>
<h2>Take everything with you</h2>
<p>One ZIP archive: your library as tables and as Markdown, your pages and files, and what is known of your account.</p>
<p><a href="/account/export" download>Download everything</a></p>
<h2>Write to whoever runs this server</h2>
<form method="post" action="/account/feedback">${csrf(session)}
<label>What is wrong, missing or good <textarea name="text" rows="5" maxlength="${MOST_FEEDBACK}" required></textarea></label>
<p><button>Send</button></p></form>
<h2>Leave</h2>
<p><a href="/account/delete">Delete your account</a></p>`,
      { ...(said && { status: said.status }) },
    )
  }

  async function sendExport(req: IncomingMessage, res: ServerResponse, { reader }: Session): Promise<void> {
    if (req.headers['sec-fetch-site'] === 'cross-site') return redirect(res, '/account/data')
    if (req.method === 'HEAD') {
      res.writeHead(200, exportHeaders(accounts.now()))
      res.end()
      return
    }
    await countAttempt(accounts, 'exports', reader.id)
    await server.libraries.use(reader.id, async ({ library }) => {
      res.writeHead(200, exportHeaders(accounts.now()))
      const archive = exportAccount(accounts, reader.id, library)
      await pipeline(Readable.from(archive, { objectMode: false }), res).catch((error: unknown) => {
        if (!hasLeft(error)) throw error
      })
    })
  }

  async function takeFeedback(req: IncomingMessage, res: ServerResponse, session: Session): Promise<void> {
    const form = await ownForm(req, session)
    try {
      await leaveFeedback(accounts, session.reader.id, form.get('text') ?? '')
    } catch (error) {
      return sendData(res, session, faultOf(error))
    }
    await sendData(res, session, { text: 'Thank you. Your message was left.', status: 200 })
  }

  async function sendDelete(res: ServerResponse, session: Session, said?: Said): Promise<void> {
    const { reader } = session
    const asksPassword = reader.email !== null && (await hasPassword(accounts, reader.id))
    const may = asksPassword || isFresh(accounts, session)
    sendPage(
      res,
      'Delete your account?',
      markup`${told(said)}
<p>This is done at once and cannot be taken back. Nobody can restore it, not even whoever runs this server, unless they have an
older backup.</p>
<p>Gone will be your account with all ways to sign in, every connected assistant and token, your messages to the operator,
${
  server.isLocal(reader)
    ? markup`and everything that the server counted for you. <b>Your library stays</b> on the machine that this server runs on:
it is the one that the command line opens there, and whoever has that machine keeps it.`
    : markup`and your whole library: everything you saved, with its pages and files, every highlight and note, what you read and
when.`
}</p>
<p><a href="/account/export" download>Download everything first</a></p>
${
  may
    ? markup`<form method="post" action="/account/delete">${csrf(session)}
${asksPassword && markup`<label>Your password <input name="password" type="password" autocomplete="current-password" required></label>`}
<label class="tick"><input type="checkbox" name="sure" value="yes" required><span>I want all of this to be deleted.</span></label>
<p><button>Delete my account</button></p></form>`
    : markup`<p>To be sure that it is you, <a href="/sign-out">sign out</a>, sign in again and come back here within the hour.</p>`
}
<p><a href="/account/data">Keep my account</a></p>`,
      { ...(said && { status: said.status }) },
    )
  }

  async function deleteAccount(req: IncomingMessage, res: ServerResponse, session: Session): Promise<void> {
    const { reader } = session
    const form = await ownForm(req, session)
    if (form.get('sure') !== 'yes')
      return sendDelete(res, session, { text: 'Tick the box to say that you mean it.', status: 400 })
    if (reader.email !== null && (await hasPassword(accounts, reader.id))) {
      try {
        const password = form.get('password') ?? ''
        if (!(await isOwnPassword(accounts, reader, password, addressOf(req))))
          return await sendDelete(res, session, {
            text: 'The password is wrong. Nothing was deleted.',
            status: 403,
          })
      } catch (error) {
        return sendDelete(res, session, faultOf(error))
      }
    } else if (!isFresh(accounts, session)) {
      return sendDelete(res, session, { text: 'Sign in again first. Nothing was deleted.', status: 403 })
    }
    try {
      await server.removeLibrary(reader.id)
    } catch (error) {
      // The account went first. What could not be removed yet is removed by the next sweep.
      onError(error, 'removal')
    }
    await finishSession(accounts, req, res)
    sendPage(
      res,
      'Your account is deleted',
      markup`<p>Every assistant and browser was signed out. Thank you for having been here.</p>`,
    )
  }

  /** The fields of a form that one of these pages sent. Throws `OAuthError` where another page did. */
  async function ownForm(req: IncomingMessage, session: Session): Promise<URLSearchParams> {
    const form = await readForm(req)
    if (isFromOurPage(accounts, req, session, form.get('csrf') ?? '')) return form
    throw new OAuthError('invalid_request', 'the form does not come from our own page', { status: 403 })
  }

  function fail(res: ServerResponse, error: unknown): void {
    const known = error instanceof Failure || error instanceof OAuthError
    if (!known) onError(error, 'account')
    // A download that broke off must not look whole.
    if (res.headersSent) return void res.destroy()
    const failure = toFailure(error)
    const status = error instanceof OAuthError ? error.status : statusOf(failure)
    const { retryAfterSeconds } = failure
    const words = error instanceof OAuthError ? error.message : `${failure.message} ${failure.hint}`
    sendPage(
      res,
      'This did not work',
      markup`<p>${words}</p><p><a href="/account/data">Back to your data</a></p>`,
      {
        status,
        headers: {
          ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
          ...(status === 413 && { connection: 'close' }),
        },
      },
    )
  }

  return async function serve(req: IncomingMessage, res: ServerResponse, path: string): Promise<boolean> {
    const methods = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (!methods) return false
    try {
      const method = req.method === 'HEAD' ? 'GET' : req.method
      const handler = method === 'GET' || method === 'POST' ? methods[method] : undefined
      if (!handler) {
        res.setHeader('allow', Object.keys(methods).join(', '))
        throw new OAuthError('invalid_request', 'This method is not supported here.', { status: 405 })
      }
      const session = await readSession(accounts, req)
      if (!session)
        redirect(
          res,
          `/sign-in?next=${encodeURIComponent(path === '/account/export' ? '/account/data' : path)}`,
        )
      else await handler(req, res, session)
    } catch (error) {
      fail(res, error)
    }
    return true
  }
}

/** Whoever no longer wants the archive goes in the middle of it. */
const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

interface Said {
  text: string
  status: number
}

const told = (said: Said | undefined): Markup | false =>
  said !== undefined && markup`<p role="alert">${said.text}</p>`

/** A failure as the page says it. Throws what is none. */
function faultOf(error: unknown): Said {
  if (!(error instanceof Failure)) throw error
  return { text: `${error.message} ${error.hint}`, status: statusOf(error) }
}

const csrf = (session: Session): Markup => markup`<input type="hidden" name="csrf" value="${session.csrf}">`

const megabytes = (bytes: number): string =>
  `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: bytes < 10_000_000 ? 1 : 0 })} MB`

const exportHeaders = (now: Date): Record<string, string> => ({
  'content-type': 'application/zip',
  'content-disposition': `attachment; filename="${exportName(now)}"`,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})
