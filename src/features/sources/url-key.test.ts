import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trustsCanonical, urlKey } from './url-key.ts'
import { youtubeVideoId } from './youtube-address.ts'

describe('the key of an address', () => {
  it('is one for the many addresses of a page', () => {
    const same = [
      'http://www.example.test/a/?utm_source=x&b=2#top',
      'https://example.test/a?b=2',
      'https://EXAMPLE.test:443/a/?b=2&fbclid=1',
      '  https://example.test/a?&b=2  ',
    ]
    expect(new Set(same.map(urlKey))).toEqual(new Set(['example.test/a?b=2']))
  })

  it.each([
    ['https://example.test/#/p1', 'https://example.test/#/p2'],
    ['https://example.test/#!p1', 'https://example.test/#!p2'],
    ['https://example.test/?id=1', 'https://example.test/?id=2'],
    ['https://example.test/A', 'https://example.test/a'],
    ['https://example.test/?a=1&b=2', 'https://example.test/?b=2&a=1'],
    ['https://m.example.test/a', 'https://example.test/a'],
    ['https://example.test:8080/a', 'https://example.test/a'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(urlKey(one)).not.toBe(urlKey(other))
  })

  it('is one for every address of a video', () => {
    const same = [
      'https://www.youtube.com/watch?v=aB3_-efghij',
      'http://youtube.com/watch?list=PL1&v=aB3_-efghij&t=90s#comments',
      'https://m.youtube.com/watch?v=aB3_-efghij&feature=share',
      'https://music.youtube.com/watch?v=aB3_-efghij',
      'https://youtu.be/aB3_-efghij?si=x&t=90',
      'https://www.youtube.com/shorts/aB3_-efghij',
      'https://youtube.com/live/aB3_-efghij?feature=share',
      'https://www.youtube-nocookie.com/embed/aB3_-efghij?start=3',
      'https://www.youtube.com/v/aB3_-efghij&hl=en',
      'https://www.youtube.com/watch?v=aB3_-efghij?t=10',
      'https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3DaB3_-efghij%26feature%3Dshare',
    ]
    expect(same.map(urlKey)).toEqual(same.map(() => 'youtube.com/watch?v=aB3_-efghij'))
  })

  it.each([
    'https://www.youtube.com/playlist?list=PL0123456789',
    'https://www.youtube.com/embed/videoseries?list=PL1',
    'https://www.youtube.com/@channel',
    'https://www.youtube.com/watch?v=tooshort',
    'https://notyoutube.com/watch?v=aB3_-efghij',
    'https://youtube.com.example.test/watch?v=aB3_-efghij',
    'https://example.test/watch?v=aB3_-efghij',
  ])('takes %s for no video', (url) => {
    expect(youtubeVideoId(url)).toBeUndefined()
    expect(urlKey(url)).toBeDefined()
  })

  it('keeps parameters byte for byte', () => {
    expect(urlKey('https://example.test/s?a=1*2&q=%2A&r=a+b&t=%c3%a9')).toBe(
      'example.test/s?a=1*2&q=%2A&r=a+b&t=%c3%a9',
    )
  })

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://example.test/a',
    'example.test/a',
    '',
    'http://',
  ])('is none for %j', (url) => expect(urlKey(url)).toBeUndefined())

  it('does not change when tracking is added anywhere', () => {
    const parameter = fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), fc.stringMatching(/^[\w%.*-]{0,8}$/))
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: false, withFragments: false }),
        fc.array(parameter, { maxLength: 4 }),
        fc.nat(4),
        (page, parameters, at) => {
          const query = parameters.map(([name, value]) => `${name}=${value}`)
          const tracked = query.toSpliced(at, 0, 'utm_campaign=spring')
          expect(urlKey(`${page}?${tracked.join('&')}`)).toBe(urlKey(`${page}?${query.join('&')}`))
        },
      ),
    )
  })
})

describe('a canonical address', () => {
  it('is believed of a mobile or AMP page', () => {
    expect(trustsCanonical('https://m.example.test/a?b=2', 'https://example.test/a?b=2')).toBe(true)
    expect(trustsCanonical('https://amp.example.test/a', 'https://www.example.test/a')).toBe(true)
    expect(trustsCanonical('https://cdn.ampproject.org/c/s/example.test/a', 'https://example.test/a')).toBe(
      true,
    )
  })

  it('is not believed of another site, or where every page names the front page', () => {
    expect(trustsCanonical('https://example.test/a', 'https://other.test/a')).toBe(false)
    expect(trustsCanonical('https://example.test/a', 'https://example.test/')).toBe(false)
    expect(trustsCanonical('https://example.test/a', 'javascript:alert(1)')).toBe(false)
  })
})
