import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress, literalAddress, parseAllowedPlaces } from './address.ts'

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])('lets %s through', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::7f00:1',
    'fd00::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '100::1',
    '::ffff:0:127.0.0.1',
    '',
    'localhost',
    '1.2.3',
    'not an address',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it('gives the same answer for an IPv4 address and its form inside IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => isPublicAddress(address) === isPublicAddress(`::ffff:${address}`)),
    )
  })
})

describe('literalAddress', () => {
  it('finds IP literals in every spelling of a URL', () => {
    const spellings = ['0x7f.1', '2130706433', '017700000001', '127.1', '127.0.0.1.']
    for (const spelling of spellings)
      expect(literalAddress(new URL(`http://${spelling}/`).hostname)).toBe('127.0.0.1')
    expect(literalAddress(new URL('http://[::1]/').hostname)).toBe('::1')
    expect(literalAddress('example.org')).toBeUndefined()
  })
})

describe('parseAllowedPlaces', () => {
  it('allows a host on every port, or on the one that was named', () => {
    const places = parseAllowedPlaces(['Wiki.home', 'nas.home:8080', '[::1]:9000', '10.0.0.7'])
    expect(places.allows('wiki.home', 1234)).toBe(true)
    expect(places.allows('wiki.home.', 80)).toBe(true)
    expect(places.allows('nas.home', 8080)).toBe(true)
    expect(places.allows('nas.home', 8081)).toBe(false)
    expect(places.allows('[::1]', 9000)).toBe(true)
    expect(places.allows('::1', 9001)).toBe(false)
    expect(places.allows('::ffff:10.0.0.7', 80)).toBe(true)
    expect(places.allows('evil.wiki.home', 80)).toBe(false)
  })

  it('allows a range by addresses only', () => {
    const places = parseAllowedPlaces(['192.168.1.0/24', 'fd00::/8'])
    expect(places.allows('192.168.1.44', 3000)).toBe(true)
    expect(places.allows('192.168.2.44', 3000)).toBe(false)
    expect(places.allows('fd12::1', 80)).toBe(true)
    expect(places.allows('192.168.1.44.example.org', 80)).toBe(false)
  })

  it.each(['http://x', 'a b', '10.0.0.0/99', 'x:123456', ''])('refuses the entry "%s"', (entry) => {
    expect(() => parseAllowedPlaces([entry])).toThrow(RangeError)
  })
})
