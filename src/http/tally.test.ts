import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Durations, routeKindOf, SECONDS, Tally } from './tally.ts'

it.each([
  ['POST', '/', 'mcp'],
  ['POST', '/?tools=library', 'mcp'],
  ['GET', '/', 'page'],
  ['POST', '/mcp', 'mcp'],
  ['POST', '/mcp/?tools=library', 'mcp'],
  ['POST', '/api/tools/list_items', 'api_tool'],
  ['GET', '/api/openapi.json', 'api'],
  ['GET', '/.well-known/oauth-protected-resource', 'discovery'],
  ['POST', '/oauth/token', 'oauth'],
  ['GET', '/sign-in?link=x', 'sign_in'],
  ['GET', '/account', 'page'],
  ['GET', '/constructor', 'other'],
  ['GET', '/__proto__', 'other'],
  ['GET', '', 'other'],
])('counts %s %s as %s', (method, target, kind) => {
  expect(routeKindOf(method, target)).toBe(kind)
})

it('makes no more kinds of addresses than there are, whatever is asked for', () => {
  const kinds = new Set<string>()
  fc.assert(
    fc.property(fc.webPath({ size: 'medium' }), fc.string(), (path, text) => {
      for (const target of [path, `/${text}`, text]) kinds.add(routeKindOf('GET', target))
    }),
  )
  expect(kinds.size).toBeLessThanOrEqual(9)
})

it('puts each duration into the first class that holds it', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 60_000, noNaN: true })), (all) => {
      const durations = new Durations()
      for (const ms of all) durations.add(ms)
      const classes = [...SECONDS, Infinity]
      expect(durations.counts).toEqual(
        classes.map(
          (upTo, at) =>
            all.filter((ms) => ms <= upTo * 1_000 && (at === 0 || ms > classes[at - 1]! * 1_000)).length,
        ),
      )
    }),
  )
})

it('counts what is refused for its number once, whichever way it came', () => {
  const tally = new Tally()
  tally.call('list_items', 'rate_limited', 1)
  tally.request('mcp', 200, 1)
  tally.call('list_items', 'rate_limited', 1)
  tally.request('api_tool', 429, 1)
  tally.request('sign_in', 429, 1)
  expect(tally.rateLimited()).toEqual({ calls: 2, requests: 1 })
})
