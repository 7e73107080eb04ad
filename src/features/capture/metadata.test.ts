import { describe, expect, it } from 'vitest'
import { parsePage } from './article-engines.ts'
import { readMetadata } from './metadata.ts'
import { authorsFrom } from './metadata-authors.ts'

const URL_OF_PAGE = 'https://www.example.org/2024/reading'
const read = (head: string, body = '') =>
  readMetadata(parsePage(`<html><head>${head}</head><body>${body}</body></html>`, URL_OF_PAGE), URL_OF_PAGE)
const jsonLd = (data: unknown) => `<script type="application/ld+json">${JSON.stringify(data)}</script>`

describe('readMetadata', () => {
  it('says nothing where the page says nothing', () => {
    expect(read('')).toEqual({
      title: null,
      authors: [],
      site: null,
      language: null,
      published: null,
      description: null,
      canonicalUrl: null,
      coverUrl: null,
      ampUrl: null,
    })
  })

  it('reads JSON-LD, its graph and its references', () => {
    const metadata = read(
      jsonLd({
        '@context': 'https://schema.org',
        '@graph': [
          { '@type': 'WebSite', '@id': '#site', name: 'Example Times' },
          { '@type': 'Person', '@id': '#ann', name: 'Ann Roe' },
          {
            '@type': 'NewsArticle',
            headline: 'Another',
            author: { name: 'Not Me' },
            url: 'https://example.org/other',
          },
          {
            '@type': ['Article', 'NewsArticle'],
            headline: 'How we read &amp; why',
            mainEntityOfPage: { '@id': URL_OF_PAGE },
            author: [{ '@id': '#ann' }, { '@type': 'Person', name: 'Ben Poe' }],
            publisher: { '@id': '#site' },
            datePublished: '2024-03-05T08:00:00+01:00',
            inLanguage: 'en_gb',
            image: { url: '/img/a.jpg' },
            description: 'A study.',
          },
        ],
      }),
    )
    expect(metadata).toMatchObject({
      title: 'How we read & why',
      authors: ['Ann Roe', 'Ben Poe'],
      site: 'Example Times',
      published: '2024-03-05',
      language: 'en-GB',
      coverUrl: 'https://www.example.org/img/a.jpg',
      description: 'A study.',
    })
  })

  it('passes over JSON-LD that cannot be read, and mends what can', () => {
    expect(read('<script type="application/ld+json">{"@type": oops</script><title>T</title>').title).toBe('T')
    const broken = '<script type="application/ld+json">{"@type":"Article","headline":"Two\nlines"}</script>'
    expect(read(broken).title).toBe('Two lines')
  })

  it('reads OpenGraph and meta tags', () => {
    const metadata = read(
      `<meta property="og:title" content="On Reading | Example Times"><meta property="og:site_name" content="Example Times">
       <meta name="author" content="By Ann Roe and Ben Poe, Staff Writer"><meta name="description" content="D">
       <meta property="article:published_time" content="2024-03"><meta property="og:image" content="//cdn.example/i.png">
       <link rel="canonical" href="/2024/reading?id=1"><link rel="amphtml" href="/amp/reading">
       <meta property="og:locale" content="pt_BR">`,
    )
    expect(metadata).toEqual({
      title: 'On Reading',
      authors: ['Ann Roe', 'Ben Poe'],
      site: 'Example Times',
      language: 'pt-BR',
      published: '2024-03',
      description: 'D',
      canonicalUrl: 'https://www.example.org/2024/reading?id=1',
      coverUrl: 'https://cdn.example/i.png',
      ampUrl: 'https://www.example.org/amp/reading',
    })
  })

  it('reads citations of papers', () => {
    const head = `<meta name="citation_title" content="A Paper"><meta name="citation_author" content="Roe, Ann">
      <meta name="citation_author" content="Poe, Ben"><meta name="citation_publication_date" content="2020/05">
      <meta name="citation_journal_title" content="J. Read.">`
    expect(read(head)).toMatchObject({
      title: 'A Paper',
      authors: ['Ann Roe', 'Ben Poe'],
      published: '2020-05',
      site: 'J. Read.',
    })
  })

  it('reads microdata and plain HTML', () => {
    const body = `<h1>Heading</h1><span itemprop="author"><b itemprop="name">Ann Roe</b></span>
      <time itemprop="datePublished" datetime="2021-01-02">2 Jan</time>`
    expect(read('', body)).toMatchObject({ title: 'Heading', authors: ['Ann Roe'], published: '2021-01-02' })
    expect(read('<title>Words – example.org</title>').title).toBe('Words')
    expect(read('<title>Alpha: Beta</title>').title).toBe('Alpha: Beta')
  })

  it('does not believe templates, and front pages as the canonical address', () => {
    const head = `<meta property="og:title" content="{{title}}"><title>Real</title>
      <link rel="canonical" href="https://www.example.org/"><meta name="author" content="admin">
      <meta property="og:image" content="javascript:alert(1)"><html lang="x!">`
    expect(read(head)).toMatchObject({ title: 'Real', canonicalUrl: null, authors: [], coverUrl: null })
  })
})

describe('authorsFrom', () => {
  it.each([
    [['By Ann Roe'], ['Ann Roe']],
    [['Ann Roe, Ben Poe and Cem Doe'], ['Ann Roe', 'Ben Poe', 'Cem Doe']],
    [['Martin L. King, Jr.'], ['Martin L. King, Jr.']],
    [['Ann Roe', 'ann roe'], ['Ann Roe']],
    [['https://www.facebook.com/example'], []],
    [['Ann Roe (ann@example.org)'], ['Ann Roe']],
    [['von Ann Roe und Ben Poe'], ['Ann Roe', 'Ben Poe']],
    [['Ann Roe, Senior Editor'], ['Ann Roe']],
    [['Example Times'], ['Example Times']],
    [['Ann Roe', 'Example Times'], ['Ann Roe']],
    [['山田 太郎'], ['山田 太郎']],
  ])('finds in %j %j', (bylines, names) => {
    expect(authorsFrom(bylines, 'Example Times')).toEqual(names)
  })
})
