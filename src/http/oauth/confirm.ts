import { addressToConfirm, confirmAddress } from '../../features/accounts/email-address.ts'
import { isFromOurPage, readSession } from '../session.ts'
import { nameOf, sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { markup, sendPage } from './page.ts'
import { readForm } from './read-body.ts'

/** Where a reader says that an address is theirs; by a button, since programs look at links in messages. */
export const showConfirm: Endpoint = async (exchange) => {
  const { accounts, req, res, url } = exchange
  const link = url.searchParams.get('link') ?? ''
  const session = await readSession(accounts, req)
  if (!session)
    return redirect(res, `/sign-in?next=${encodeURIComponent(`/confirm?link=${encodeURIComponent(link)}`)}`)
  const email = await addressToConfirm(accounts, link, session.reader.id)
  if (email === undefined) return sendUsed(exchange)
  sendPage(
    res,
    'Is this your address?',
    markup`<form method="post" action="/confirm"><input type="hidden" name="csrf" value="${session.csrf}">
<input type="hidden" name="link" value="${link}">
<p>You are signed in as <b>${nameOf(session)}</b> and about to confirm that <b>${email}</b> is yours.</p>
<p><button>It is mine</button></p>
</form>`,
  )
}

export const confirm: Endpoint = async (exchange) => {
  const { accounts, req, res } = exchange
  const form = await readForm(req)
  const session = await readSession(accounts, req)
  if (!session) return redirect(res, '/sign-in')
  if (!isFromOurPage(accounts, req, session, form.get('csrf') ?? '')) return sendRefused(exchange)
  if (!(await confirmAddress(accounts, form.get('link') ?? '', session.reader.id))) return sendUsed(exchange)
  sendPage(res, 'Your address is confirmed', markup`<p><a href="/account">To your account</a></p>`)
}

const sendUsed = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This link does not work any more',
    markup`<p>It was used, is too old, is for another account than the one that you are signed in with, or the address is another
reader's by now.</p>
<p><a href="/account">To your account</a></p>`,
    { status: 400 },
  )
