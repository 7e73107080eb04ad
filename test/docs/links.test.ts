import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { anchorsOf, linksOf, read, ROOT } from './documents.ts'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

it.each(documents)('%s links to what is there', (document) => {
  for (const link of linksOf(read(document))) {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? document : normalize(join(dirname(document), path))
    expect(existsSync(join(ROOT, target)), link).toBe(true)
    if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor)
  }
})
