import { describe, expect, it } from 'vitest'
import { parseAllowedPlaces } from '../outside/address.ts'
import { isHost, isPlace } from './host-name.ts'

const HOSTS = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost', 'books.example.org', 'my_service', 'a.b.']
const NO_HOSTS = [
  '',
  'a host',
  '1.2.3',
  '300.1.1.1',
  '-a.example',
  'a-.example',
  'a..b',
  'http://a',
  'a:80',
  '[::1]',
]

describe('a host', () => {
  it.each(HOSTS)('is %j', (text) => expect(isHost(text)).toBe(true))
  it.each(NO_HOSTS)('is not %j', (text) => expect(isHost(text)).toBe(false))
})

describe('a place in a network', () => {
  it.each([...HOSTS, 'nas:8080', '10.0.0.7:80', '[::1]', '[::1]:8080', '192.168.1.0/24', 'fd00::/8'])(
    'is %j, which the guard of fetches reads too',
    (text) => {
      expect(isPlace(text)).toBe(true)
      expect(() => parseAllowedPlaces([text])).not.toThrow()
    },
  )
  it.each([
    '',
    'http://nas',
    'nas:0',
    'nas:99999',
    'a b',
    '10.0.0.0/33',
    'fd00::/129',
    'nas/24',
    '*',
    '1.2.3.4.5',
  ])('is not %j', (text) => expect(isPlace(text)).toBe(false))
})
