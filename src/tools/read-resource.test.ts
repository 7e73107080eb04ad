import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resourceAt } from './read-resource.ts'
import { RESOURCES } from './resources.ts'

const at = (uri: string) => {
  const address = resourceAt(uri)
  return address && { uri: address.resource.uri, args: address.args }
}

describe('an address', () => {
  it.each([
    ['becoming://highlights', 'becoming://highlights', {}],
    ['commonplace://highlights', 'becoming://highlights', {}],
    // As URL parsers of some clients write them.
    ['BECOMING://Highlights/', 'becoming://highlights', {}],
    ['becoming://sources/12', 'becoming://sources/{id}', { id: '12' }],
    ['commonplace://notes/12', 'becoming://notes/{id}', { id: '12' }],
    [
      'becoming://sources/12?limit=3&cursor=a.b',
      'becoming://sources/{id}',
      { id: '12', limit: '3', cursor: 'a.b' },
    ],
    ['becoming://sources/%31%32', 'becoming://sources/{id}', { id: '12' }],
    ['becoming://sources/{id}', 'becoming://sources/{id}', { id: '{id}' }],
    // What stands in the path is not to be put right by what stands behind it.
    ['becoming://sources/12?id=13', 'becoming://sources/{id}', { id: '12' }],
  ])('%s is of a resource', (uri, known, args) => {
    expect(at(uri)).toEqual({ uri: known, args })
  })

  it.each([
    '',
    'becoming:',
    'becoming://',
    'becoming://books',
    'becoming://highlights/1/2',
    'becoming://highlights#1',
    'https://highlights',
    'file:///etc/passwd',
    ' becoming://highlights',
    'becoming://highlights\n',
    'becoming://__proto__',
  ])('%j is of none', (uri) => {
    expect(at(uri)).toBeUndefined()
  })

  it('whatever it is, is read without a fault', () => {
    const part = fc.string({
      unit: fc.constantFrom('becoming://', 'notes', '/', '?', '%', '%e0', '12', '=', '&', '😀'),
    })
    fc.assert(
      fc.property(part, (uri) => void resourceAt(uri)),
      { numRuns: 500 },
    )
  })
})

it('no two resources share an address or a name', () => {
  for (const key of ['uri', 'name'] as const)
    expect(new Set(RESOURCES.map((one) => one[key])).size).toBe(RESOURCES.length)
})
