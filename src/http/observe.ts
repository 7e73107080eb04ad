import type { HttpApp } from './app.ts'
import { nameRequest } from './request-id.ts'
import { beginsSession } from './session.ts'
import { routeKindOf, type RouteKind, type Tally } from './tally.ts'

/** What was answered, without anything that was sent. */
export interface Answered {
  request: string
  method: string
  /** One of our own addresses, or the kind of it where the address holds more. */
  path: string
  status: number
  ms: number
  unfinished?: true
}

/** Names each request, counts how it was answered, and tells `told` of it. */
export function observe(app: HttpApp, tally: Tally, told?: (answered: Answered) => void): HttpApp {
  return (req, res) => {
    const begun = performance.now()
    const request = nameRequest(res)
    const { method = '', url: target = '' } = req
    const route = routeKindOf(method, target)
    res.once('close', () => {
      const ms = performance.now() - begun
      const { statusCode: status } = res
      tally.request(route, status, ms)
      if (route === 'sign_in' && isAttempt(method, target)) tally.signIn(beginsSession(res))
      told?.({
        request,
        method,
        path: pathOf(target, route),
        status,
        ms: Math.round(ms),
        ...(!res.writableFinished && { unfinished: true }),
      })
    })
    app(req, res)
  }
}

/** Handing in a link, a password or a passkey, or coming back from another provider. */
const isAttempt = (method: string, target: string): boolean =>
  /^\/sign-in(\/passkey)?(\?|$)/.test(target)
    ? method === 'POST'
    : /^\/sign-in\/with\/[a-z]+\/callback(\?|$)/.test(target)

const OURS =
  /^\/(mcp|api(\/tools\/[a-z_]{1,64}|\/openapi\.json)?|healthz|readyz|metrics|sign-(in|up|out)|account|oauth\/(authorize|token|register|revoke))?$/

/** What of a target may stand in a log: addresses hold ids, links that sign in, and whatever a caller makes up. */
function pathOf(target: string, route: RouteKind): string {
  const path = /^[^?#]*/.exec(target)?.[0] ?? ''
  return OURS.test(path) ? path : route
}
