import { LIFETIME } from '../../features/accounts/lifetimes.ts'
import { isSame, newSecret, sealOf } from '../../features/accounts/secrets.ts'
import { isFromOurOrigin, ownCookie, readCookie, setCookie } from '../session.ts'
import type { Exchange } from './endpoint.ts'
import { markup, type Markup } from './page.ts'

// A browser that nobody signed in with yet. Its forms are for the browser that they were made for: else a foreign page could
// sign somebody in as another, who would then save things into a stranger's library.

const NAME = 'commonplace-visitor'
/** Goes along where a provider sends its answer as a form from its own page. */
const CROSSING_NAME = 'commonplace-crossing'

/** The secret that this browser has in a cookie; it is given one where it has none. */
const visitorOf = (exchange: Exchange): string =>
  secretOf(exchange, { name: NAME, seconds: LIFETIME.request, crossSite: false })

export const knownVisitor = ({ accounts, req }: Exchange): string | undefined =>
  readCookie(req, ownCookie(accounts, NAME))

/** The same for the way to a provider and back. */
export const crossingOf = (exchange: Exchange, crossSite: boolean): string =>
  secretOf(exchange, { name: CROSSING_NAME, seconds: LIFETIME.providerRequest, crossSite })

export const knownCrossing = ({ accounts, req }: Exchange): string | undefined =>
  readCookie(req, ownCookie(accounts, CROSSING_NAME))

/** What this request's browser was given just now: a page with two forms has one visitor. */
const given = new WeakMap<Exchange, Map<string, string>>()

function secretOf(
  exchange: Exchange,
  { name, seconds, crossSite }: { name: string; seconds: number; crossSite: boolean },
): string {
  const { accounts, req, res } = exchange
  const before = given.get(exchange)?.get(name)
  if (before !== undefined) return before
  const cookie = ownCookie(accounts, name)
  const known = readCookie(req, cookie)
  const value = known !== undefined && /^[\w-]{43}$/.test(known) ? known : newSecret()
  // Given anew each time, so that it lasts as long as the form that is made with it.
  setCookie(accounts, res, { name: cookie, value, maxAge: seconds, crossSite })
  given.set(exchange, (given.get(exchange) ?? new Map()).set(name, value))
  return value
}

const tokenFor = ({ accounts }: Exchange, browser: string): string =>
  sealOf(accounts.keys.forms, 'visitor', browser)

/** The field that binds a form to this browser. */
export const visitorField = (exchange: Exchange): Markup =>
  markup`<input type="hidden" name="csrf" value="${tokenFor(exchange, visitorOf(exchange))}">`

/** Whether a form was made by us for this browser, and comes from a page of ours. */
export function isVisitorsForm(exchange: Exchange, csrf: string | null): boolean {
  const browser = knownVisitor(exchange)
  if (browser === undefined || !isFromOurOrigin(exchange.accounts, exchange.req)) return false
  return isSame(csrf, tokenFor(exchange, browser))
}
