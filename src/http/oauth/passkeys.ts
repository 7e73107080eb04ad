import { Failure } from '../../core/failure.ts'
import {
  addPasskey,
  askForAnyPasskey,
  askForPasskey,
  passkeysWork,
  signInWithPasskey,
} from '../../features/accounts/passkeys.ts'
import { tellNewWay } from '../../features/accounts/ways-in.ts'
import { beginSession, isFresh, isFromOurPage, readSession } from '../session.ts'
import { changeWay } from './account-change.ts'
import { sendRefused } from './consent.ts'
import { sendJson } from '../send-json.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { placeAfter, sendLimited } from './entrance.ts'
import { OAuthError } from './oauth-error.ts'
import { readForm } from './read-body.ts'
import { sendSignIn } from './sign-in.ts'
import { isVisitorsForm, knownVisitor } from './visitor.ts'

/** What the script gives the browser to sign in with. */
export const passkeyOptions: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const browser = knownVisitor(exchange)
  if (browser === undefined || !isVisitorsForm(exchange, tokenOf(exchange))) throw refused()
  needsPasskeys(exchange)
  await sendJson(req, res, await askForAnyPasskey(accounts, { browser, address }))
}

export const signInByPasskey: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  const browser = knownVisitor(exchange)
  if (browser === undefined || !isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  needsPasskeys(exchange)
  const next = placeAfter(form.get('next'))
  try {
    const credential = form.get('credential') ?? ''
    const reader = await signInWithPasskey(accounts, { browser, credential, address })
    if (!reader)
      return sendSignIn(exchange, next, { status: 401, fault: 'This passkey does not sign anybody in here.' })
    await beginSession(accounts, req, res, { readerId: reader.id, address })
    redirect(res, next)
  } catch (error) {
    await sendLimited(error, (fault) => sendSignIn(exchange, next, fault))
  }
}

/** What the script gives the browser to make a passkey with, for the reader who is signed in. */
export const newPasskeyOptions: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const session = await readSession(accounts, req)
  if (!session || !isFromOurPage(accounts, req, session) || !isFresh(accounts, session)) throw refused()
  needsPasskeys(exchange)
  await sendJson(req, res, await askForPasskey(accounts, session.reader, { browser: session.hash, address }))
}

export const keepNewPasskey: Endpoint = (exchange) =>
  changeWay(exchange, async (session, form) => {
    const { accounts, res } = exchange
    needsPasskeys(exchange)
    const kept = await addPasskey(accounts, session.reader, {
      browser: session.hash,
      credential: form.get('credential') ?? '',
      name: form.get('name') ?? '',
    })
    if (!kept) {
      throw new Failure('invalid_input', 'This passkey was not taken.', {
        hint: 'Try again; a reader has at most twenty, and one device holds one for this server.',
      })
    }
    tellNewWay(accounts, session.reader, 'A passkey')
    redirect(res, '/account')
  })

function needsPasskeys({ accounts }: Exchange): void {
  if (!passkeysWork(accounts))
    throw new OAuthError('invalid_request', 'passkeys need a domain and https', { status: 404 })
}

function tokenOf({ req }: Exchange): string | null {
  const token = req.headers['x-csrf-token']
  return typeof token === 'string' ? token : null
}

const refused = (): OAuthError =>
  new OAuthError('invalid_request', 'this was not asked from a page of ours', { status: 403 })
