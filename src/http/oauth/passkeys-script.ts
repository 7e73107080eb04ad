import type { Accounts } from '../../features/accounts/accounts.ts'
import { passkeysWork } from '../../features/accounts/passkeys.ts'
import { contentTag, isUnchanged } from '../conditional.ts'
import type { Endpoint } from './endpoint.ts'

// The one script of these pages. A passkey cannot be asked for without one; everything else works where it does not run. It
// fetches what the browser has to sign, and sends the answer as the form that it found.

const SCRIPT = `(() => {
  'use strict'
  if (!window.PublicKeyCredential || !navigator.credentials) return
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '')
  const withIds = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }))
  const ask = {
    get: async (options) => {
      const { rawId, response, type } = await navigator.credentials.get({
        publicKey: { ...options, challenge: bytes(options.challenge), allowCredentials: withIds(options.allowCredentials) },
      })
      return { id: text(rawId), rawId: text(rawId), type, response: {
        clientDataJSON: text(response.clientDataJSON),
        authenticatorData: text(response.authenticatorData),
        signature: text(response.signature),
        userHandle: response.userHandle ? text(response.userHandle) : null,
      } }
    },
    create: async (options) => {
      const { rawId, response, type } = await navigator.credentials.create({
        publicKey: {
          ...options,
          challenge: bytes(options.challenge),
          user: { ...options.user, id: bytes(options.user.id) },
          excludeCredentials: withIds(options.excludeCredentials),
        },
      })
      return { id: text(rawId), rawId: text(rawId), type, response: {
        clientDataJSON: text(response.clientDataJSON),
        attestationObject: text(response.attestationObject),
        transports: response.getTransports ? response.getTransports() : [],
      } }
    },
  }
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const told = form.querySelector('[role=status]')
    form.hidden = false
    form.addEventListener('submit', async (event) => {
      if (form.elements.credential.value) return
      event.preventDefault()
      told.textContent = ''
      try {
        const answer = await fetch(form.dataset.options, {
          method: 'POST',
          headers: { 'x-csrf-token': form.elements.csrf.value },
        })
        if (!answer.ok) throw new Error('refused')
        form.elements.credential.value = JSON.stringify(await ask[form.dataset.passkey](await answer.json()))
        form.submit()
      } catch (error) {
        form.elements.credential.value = ''
        told.textContent = error && error.name === 'InvalidStateError'
          ? 'This device has a passkey for your account already.'
          : 'That did not work. Try again, or take another way.'
      }
    })
  }
})()
`

const TAG = `"${contentTag(SCRIPT)}"`

/** The script, for a page of a server where passkeys can be; no other page runs any. */
export const scriptFor = (accounts: Pick<Accounts, 'base'>): { script?: string } =>
  passkeysWork(accounts) ? { script: '/passkeys.js' } : {}

export const sendPasskeysScript: Endpoint = async ({ req, res }) => {
  const headers = { etag: TAG, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
  if (isUnchanged(req, TAG)) {
    res.writeHead(304, headers).end()
    return
  }
  res.writeHead(200, { ...headers, 'content-type': 'text/javascript; charset=utf-8' })
  res.end(SCRIPT)
}
