import { addressToConfirm, confirmAddress } from '../../features/accounts/email-address.ts'
import { sendRefused } from './consent.ts'
import type { Endpoint, Exchange } from './endpoint.ts'
import { markup, sendPage } from './page.ts'
import { readForm } from './read-body.ts'
import { isVisitorsForm, visitorField } from './visitor.ts'

/** Where a reader says that an address is theirs; by a button, since programs look at links in messages. */
export const showConfirm: Endpoint = async (exchange) => {
  const link = exchange.url.searchParams.get('link') ?? ''
  const email = await addressToConfirm(exchange.accounts, link)
  if (email === undefined) return sendUsed(exchange)
  sendPage(
    exchange.res,
    'Is this your address?',
    markup`<form method="post" action="/confirm">${visitorField(exchange)}
<input type="hidden" name="link" value="${link}">
<p>You are about to confirm that <b>${email}</b> is yours.</p>
<p><button>It is mine</button></p>
</form>`,
  )
}

export const confirm: Endpoint = async (exchange) => {
  const form = await readForm(exchange.req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  if (!(await confirmAddress(exchange.accounts, form.get('link') ?? ''))) return sendUsed(exchange)
  sendPage(exchange.res, 'Your address is confirmed', markup`<p><a href="/account">To your account</a></p>`)
}

const sendUsed = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This link does not work any more',
    markup`<p>It was used or is too old, or the address is another reader's by now.</p>
<p><a href="/account">To your account</a></p>`,
    { status: 400 },
  )
