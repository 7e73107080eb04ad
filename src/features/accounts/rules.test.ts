import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../core/define-tool.ts'
import { isMetadataFault, readClientMetadata } from './client-metadata.ts'
import { hashPassword, nobodysHash, passwordFits } from './password.ts'
import { isChallenge, verifierFits } from './pkce.ts'
import { networkOf } from './rate-counter-store.ts'
import {
  faultOfRedirectUri,
  formTargetOf,
  placeOf,
  redirectUriIsRegistered,
  withAnswer,
} from './redirect-uri.ts'
import { isOurResource } from './resource.ts'
import { grantedOf, offerFor, SCOPE_WORDS, scopesIn } from './scope-words.ts'
import { hashOf, isSame, keyFor, sealOf } from './secrets.ts'

const BASE = 'https://library.example'

describe('redirect URIs', () => {
  it('that are taken are https, loopback or an application’s own scheme, whatever text is tried', () => {
    const piece = fc.constantFrom(
      'http',
      'https',
      'cursor',
      'javascript',
      '://',
      ':',
      '//',
      '@',
      '#',
      '*',
      '\\',
      ' ',
      ';',
      ',',
      "'",
      '%',
      'é',
      '/',
      'localhost',
      '127.0.0.1',
      '[::1]',
      'evil.example',
      ':80',
      '/cb',
      '%00',
      '?a=b',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const uri = pieces.join('')
        if (faultOfRedirectUri(uri) !== undefined) return
        const url = new URL(uri)
        expect(url.protocol).not.toBe('javascript:')
        expect(url.hash + url.username + url.password).toBe('')
        if (url.protocol === 'http:') expect(['localhost', '127.0.0.1', '[::1]']).toContain(url.hostname)
        if (!/^https?:$/.test(url.protocol)) return
        // Whoever reads it reads the same host, and it ends no word of the policy that it is put into.
        expect(uri.toLowerCase().startsWith(`${url.protocol}//${url.hostname}`)).toBe(true)
        expect(formTargetOf(uri)).toMatch(/^https?:(\/\/[\w.:-]+)?$/)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    'https://a;script-src/cb',
    'https://a,b/cb',
    'https:evil.example',
    'https:///evil.example/cb',
    'https://ex%61mple.org/',
  ])('%s is read in two ways and not taken', (uri) => {
    expect(faultOfRedirectUri(uri)).toBe('must name its host plainly')
  })

  it('match only themselves, but for a loopback port', () => {
    const path = fc.constantFrom('/', '/cb', '/cb/', '/cb?x=1')
    const host = fc.constantFrom('http://127.0.0.1', 'http://localhost', 'http://[::1]', 'https://a.example')
    const port = fc.constantFrom('', ':80', ':33418', ':65535')
    fc.assert(
      fc.property(host, port, path, host, port, path, (h1, p1, t1, h2, p2, t2) => {
        const right = h1 === h2 && t1 === t2 && (p1 === p2 || h1.startsWith('http:'))
        expect(redirectUriIsRegistered(h2 + p2 + t2, [h1 + p1 + t1])).toBe(right)
      }),
    )
  })

  it('are shown by host, and by scheme where an application takes them', () => {
    expect(placeOf('https://claude.ai/api/mcp/auth_callback')).toBe('claude.ai')
    expect(placeOf('http://127.0.0.1:33418/cb')).toBe('127.0.0.1:33418')
    expect(placeOf('cursor://anysphere.cursor-mcp/oauth/callback')).toBe('cursor://anysphere.cursor-mcp')
    expect(formTargetOf('cursor://anysphere.cursor-mcp/oauth/callback')).toBe('cursor:')
  })

  it('take the answer in their query, escaped', () => {
    expect(withAnswer('https://a.example/cb?x=1', { state: 'a&b=c#d', code: undefined })).toBe(
      'https://a.example/cb?x=1&state=a%26b%3Dc%23d',
    )
  })
})

it('what a client says of itself never becomes more than we know, whatever it says', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, name) => {
      const read = readClientMetadata({
        redirect_uris: ['https://a.example/cb'],
        client_name: name,
        x: value,
      })
      if (isMetadataFault(read)) throw new Error(read.description)
      expect([...read.client_name].length).toBeLessThanOrEqual(120)
      expect(read.client_name).not.toMatch(/[\p{Cc}\p{Cf}]|^\s*$/u)
      expect(isMetadataFault(readClientMetadata(value))).toBe(true)
    }),
  )
})

describe('PKCE', () => {
  it('takes the example of RFC 7636 appendix B', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    expect(isChallenge(challenge, 'S256')).toBe(true)
    expect(verifierFits('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', challenge)).toBe(true)
    expect(verifierFits('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl', challenge)).toBe(false)
  })

  it('takes no plain challenge, no short verifier', () => {
    expect(isChallenge('a'.repeat(43), 'plain')).toBe(false)
    expect(isChallenge('a'.repeat(43), undefined)).toBe(false)
    expect(verifierFits('short', hashOf('short'))).toBe(false)
    expect(verifierFits(undefined, hashOf(''))).toBe(false)
  })
})

describe('the resource', () => {
  it.each(['', '/', '/mcp', '/mcp/', '/mcp?tools=library', '/?x=1'])(
    'at our origin and %s is ours',
    (path) => {
      expect(isOurResource(BASE + path, BASE)).toBe(true)
      expect(isOurResource(BASE.toUpperCase() + path, BASE)).toBe(true)
      expect(isOurResource(`${BASE}:443${path}`, BASE)).toBe(true)
    },
  )

  it.each([
    'https://library.example.evil.example/mcp',
    'http://library.example/mcp',
    'https://library.example:8443/mcp',
    'https://x@library.example/mcp',
    'https://library.example/mcp/x',
    'https://library.example/MCP',
    'https://library.example/mcp#x',
    'mcp',
  ])('%s is not', (resource) => expect(isOurResource(resource, BASE)).toBe(false))
})

describe('scopes', () => {
  it('have each a sentence and a group', () => {
    expect(Object.keys(SCOPE_WORDS)).toEqual([...SCOPES])
    for (const { sentence } of Object.values(SCOPE_WORDS)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })

  it('that are granted were offered and ticked, and those that start ticked were asked for and are not private', () => {
    const words = fc.array(fc.constantFrom(...SCOPES, 'offline_access', 'claudeai', ''))
    fc.assert(
      fc.property(words, words, (asked, ticked) => {
        const offer = offerFor(asked.join(' '))
        const granted = grantedOf(offer.scopes, ticked)
        expect(granted.every((scope) => offer.scopes.includes(scope) && ticked.includes(scope))).toBe(true)
        expect(offer.ticked.every((scope) => SCOPE_WORDS[scope].group !== 'private')).toBe(true)
        const known = scopesIn(asked.join(' '))
        if (known.length > 0) expect(offer.scopes).toEqual(known)
      }),
    )
  })
})

describe('secrets', () => {
  it('are compared whole', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(isSame(a, b)).toBe(a === b)
      }),
    )
    expect(isSame(undefined, '')).toBe(false)
    expect(isSame(null, '')).toBe(false)
  })

  it('are sealed so that parts cannot be moved from one to the next', () => {
    const key = keyFor('x'.repeat(32), 'forms')
    expect(sealOf(key, 'ab', 'c')).not.toBe(sealOf(key, 'a', 'bc'))
    expect(sealOf(key, 'a')).not.toBe(sealOf(keyFor('x'.repeat(32), 'rotation'), 'a'))
  })
})

it('passwords fit their own hash only, however they were typed', async () => {
  const hash = await hashPassword('Straße cafe\u0301', 4)
  expect(await passwordFits('Straße caf\u00e9', hash)).toBe(true)
  expect(await passwordFits('Strasse café', hash)).toBe(false)
  expect(await hashPassword('Straße café', 4)).not.toBe(hash)
  expect(await passwordFits('', nobodysHash(4))).toBe(false)
})

it('an address stands for the network that one person has', () => {
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0')
  expect(networkOf('::1')).toBe('0:0:0:0')
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0')
  expect(networkOf('::ffff:c000:201')).toBe('192.0.2.1')
})

it('an address is one network, however it is written', () => {
  const group = fc.constantFrom(0, 0, 1, 0xdb8, 0x2001, 0xffff)
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const plain = groups.map((one) => one.toString(16)).join(':')
      const long = groups.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':')
      const short = new URL(`http://[${plain}]`).hostname.slice(1, -1)
      expect([networkOf(long), networkOf(short)]).toEqual([networkOf(plain), networkOf(plain)])
    }),
  )
})
