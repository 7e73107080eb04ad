import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { addressOf } from './address-of.ts'

const from = (forwarded: string | undefined, proxies: number): string =>
  addressOf(
    {
      socket: { remoteAddress: '10.0.0.1' },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage,
    proxies,
  )

it('believes nobody where there is no proxy', () => {
  expect(from('198.51.100.7', 0)).toBe('10.0.0.1')
})

it.each([
  ['198.51.100.7', 1, '198.51.100.7'],
  ['203.0.113.9, 198.51.100.7', 1, '198.51.100.7'],
  ['203.0.113.9, 198.51.100.7, 10.0.0.2', 2, '198.51.100.7'],
  ['203.0.113.9,  2001:db8::7 ,', 1, '2001:db8::7'],
  ['198.51.100.7:40123', 1, '198.51.100.7'],
  ['[2001:db8::7]:40123', 1, '2001:db8::7'],
  ['[2001:db8::7]', 1, '2001:db8::7'],
  ['203.0.113.9, unknown', 1, '10.0.0.1'],
  ['_hidden:7', 1, '10.0.0.1'],
  [undefined, 1, '10.0.0.1'],
  ['198.51.100.7', 2, '10.0.0.1'],
])('of %j behind %i proxies takes %s', (forwarded, proxies, address) => {
  expect(from(forwarded, proxies)).toBe(address)
})
