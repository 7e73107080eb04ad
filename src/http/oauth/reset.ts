import { askForReset, holdsResetLink, resetPassword } from '../../features/accounts/reset-password.ts'
import { sendRefused } from './consent.ts'
import type { Endpoint, Exchange } from './endpoint.ts'
import { sendLimited, type Fault } from './entrance.ts'
import { sendLookIntoMail } from './letter-page.ts'
import { markup, sendPage } from './page.ts'
import { readForm } from './read-body.ts'
import { newPassword } from './sign-up.ts'
import { isVisitorsForm, visitorField } from './visitor.ts'

/** Where a reader who forgot their password gets another. */
export const showReset: Endpoint = async (exchange) => {
  const link = exchange.url.searchParams.get('link')
  if (link !== null) return sendChoose(exchange, link)
  if (!exchange.accounts.mail) return sendAskOperator(exchange)
  sendAsk(exchange)
}

export const reset: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  const link = form.get('link')
  if (link === null) {
    if (!accounts.mail) return sendAskOperator(exchange)
    try {
      await askForReset(accounts, form.get('email') ?? '', address)
      return sendLookIntoMail(res, 'There is a link in it to choose a new password, for an hour.')
    } catch (error) {
      return sendLimited(error, (fault) => sendAsk(exchange, fault))
    }
  }
  try {
    if (!(await resetPassword(accounts, link, form.get('password') ?? ''))) return sendUsed(exchange)
    sendPage(
      res,
      'Your password is changed',
      markup`<p>Every browser is signed out. Assistants stay connected; you can end that under your account.</p>
<p><a href="/sign-in">Sign in</a></p>`,
    )
  } catch (error) {
    await sendLimited(error, (fault) => sendChoose(exchange, link, fault))
  }
}

const sendAskOperator = ({ res }: Exchange): void =>
  sendPage(
    res,
    'Forgot your password?',
    markup`<p>This server sends no mail. Ask whoever runs it for a link: they can make one for you.</p>
<p><a href="/sign-in">Sign in</a></p>`,
  )

function sendAsk(exchange: Exchange, fault?: Fault): void {
  sendPage(
    exchange.res,
    'Forgot your password?',
    markup`${fault && markup`<p role="alert">${fault.fault}</p>`}
<form method="post" action="/reset">${visitorField(exchange)}
<label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<p><button>Send me a link</button></p>
</form>
<p><small><a href="/sign-in">Sign in</a></small></p>`,
    { ...(fault && { status: fault.status, headers: fault.headers ?? {} }) },
  )
}

async function sendChoose(exchange: Exchange, link: string, fault?: Fault): Promise<void> {
  if (!(await holdsResetLink(exchange.accounts, link))) return sendUsed(exchange)
  sendPage(
    exchange.res,
    'Choose a new password',
    markup`${fault && markup`<p role="alert">${fault.fault}</p>`}
<form method="post" action="/reset">${visitorField(exchange)}<input type="hidden" name="link" value="${link}">
${newPassword}
<p><button>Save</button></p>
</form>`,
    { ...(fault && { status: fault.status }) },
  )
}

const sendUsed = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This link does not work any more',
    markup`<p>It was used or is too old.</p><p><a href="/reset">Ask for another</a></p>`,
    { status: 400 },
  )
