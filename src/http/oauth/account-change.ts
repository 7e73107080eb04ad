import { Failure } from '../../core/failure.ts'
import { isFresh, isFromOurPage, readSession, type Session } from '../session.ts'
import { sendAccount } from './account-page.ts'
import { sendRefused } from './consent.ts'
import { redirect, type Exchange } from './endpoint.ts'
import { markup, sendPage } from './page.ts'
import { readForm } from './read-body.ts'

type Work = (session: Session, form: URLSearchParams) => Promise<void>

/** Runs a change that a page of this session asked for; a failure is told on the page. */
export async function change(exchange: Exchange, work: Work): Promise<void> {
  const { accounts, req, res } = exchange
  const form = await readForm(req)
  const session = await readSession(accounts, req)
  if (!session) return redirect(res, '/sign-in')
  if (!isFromOurPage(accounts, req, session, form.get('csrf') ?? '')) return sendRefused(exchange)
  try {
    await work(session, form)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    await sendAccount(exchange, session, {
      text: `${error.message} ${error.hint}`,
      status: error.kind === 'rate_limited' ? 429 : 400,
    })
  }
}

/** The same for a change of how the reader signs in, which a browser that was left open must not be enough for. */
export const changeWay = (exchange: Exchange, work: Work): Promise<void> =>
  change(exchange, async (session, form) => {
    if (!isFresh(exchange.accounts, session)) return sendNotFresh(exchange)
    await work(session, form)
  })

export const sendNotFresh = ({ res }: Exchange): void =>
  sendPage(
    res,
    'Sign in again',
    markup`<p>You signed in a while ago. To change how you sign in, <a href="/sign-in?again=1">sign in again</a> first.</p>`,
    { status: 403 },
  )
