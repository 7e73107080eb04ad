import { describe, expect, it } from 'vitest'
import { recogniseWall } from './walls.ts'
import type { WallFacts } from './walls.ts'

const facts = (some: Partial<WallFacts>): WallFacts => ({
  url: 'https://example.org/articles/one',
  finalUrl: some.url ?? 'https://example.org/articles/one',
  status: 200,
  title: 'An article',
  html: '',
  ...some,
  text: some.text ?? some.html?.replace(/<[^>]*>/g, ' ') ?? '',
})
const codeOf = (some: Partial<WallFacts>) => recogniseWall(facts(some))?.code ?? null
const prose = 'People who log in to a site every day rarely think of the password they typed there. '.repeat(
  25,
)

describe('recogniseWall', () => {
  it('sees checks for robots', () => {
    expect(
      codeOf({ title: 'Just a moment...', html: '<p>Checking your browser</p><div class="cf-challenge">' }),
    ).toBe('page_refused')
    expect(
      codeOf({ title: 'Access denied', html: '<p>Please complete the security check to go on.</p>' }),
    ).toBe('page_refused')
    expect(
      codeOf({ title: 'example.org', html: '<p>Verify you’re human</p><div id="px-captcha"></div>' }),
    ).toBe('page_refused')
  })

  it('sees logins', () => {
    expect(
      codeOf({
        finalUrl: 'https://example.org/login?next=/articles/one',
        title: 'Log in',
        html: '<form><input type=email><input type="password"><a>Forgot your password?</a></form>',
      }),
    ).toBe('login_required')
    expect(codeOf({ title: 'Anmelden – Zeitung', html: '<form><input type=password></form>' })).toBe(
      'login_required',
    )
    expect(codeOf({ status: 401, html: '<p>You must log in to see this.</p>' })).toBe('login_required')
  })

  it('sees questions about cookies', () => {
    expect(
      codeOf({
        finalUrl: 'https://consent.example.org/collect',
        title: 'Before you continue',
        html: '<p>We use cookies.</p><button>Accept all</button><button>Reject all</button>',
      }),
    ).toBe('page_refused')
  })

  it('sees pages that are not there', () => {
    expect(codeOf({ title: '404 | Example', html: '<p>Nothing here.</p>' })).toBe('page_not_found')
    expect(
      codeOf({ title: 'Page not found', html: '<p>The page you are looking for does not exist.</p>' }),
    ).toBe('page_not_found')
    expect(codeOf({ title: 'Seite nicht gefunden', html: '<p>Leider nichts.</p>' })).toBe('page_not_found')
    expect(
      codeOf({ finalUrl: 'https://example.org/', title: 'Oops! Page not found', html: '<p>Home</p>' }),
    ).toBe('page_not_found')
  })

  it('lets articles about such things pass', () => {
    expect(codeOf({ title: 'Log in with care: what passwords cost us', text: prose, html: prose })).toBeNull()
    expect(codeOf({ title: '404: The story of a page not found', text: prose, html: prose })).toBeNull()
    expect(codeOf({ title: 'Just a moment: notes on waiting', text: prose, html: prose })).toBeNull()
    expect(codeOf({ title: 'We value your privacy, they said', text: prose, html: prose })).toBeNull()
  })

  it('lets short pages pass that show one sign only', () => {
    const form = '<form action="/login"><input type=password></form><p>A poem of twelve words.</p>'
    expect(codeOf({ title: 'A poem', html: form })).toBeNull()
    expect(codeOf({ title: 'Sign in the sky', html: '<p>A poem about clouds.</p>' })).toBeNull()
    expect(codeOf({ title: 'Notes', html: '<p>We use cookies.</p><p>A short note.</p>' })).toBeNull()
    expect(codeOf({ title: 'Security check', html: '<p>How the airport line moves.</p>' })).toBeNull()
    expect(codeOf({ title: 'Home', finalUrl: 'https://example.org/', html: '<p>Welcome.</p>' })).toBeNull()
  })
})

describe('hostile markup', () => {
  it.each(['<script', '<input ', '<a<', '<', '<!--', '<script>', 'log in to '])(
    'of many "%s" is no wall and no trouble',
    (piece) => {
      expect(codeOf({ title: 'A page', text: '', html: piece.repeat(60_000) })).toBeNull()
    },
  )
})
