import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { TOOLS } from '../../src/tools/registry.ts'
import { toolsPage } from '../support/tools-page.ts'

// `GOLDEN_WRITE=1 npx vitest run test/contract` writes it anew.
it('docs/tools.md says of every tool what its definition says', () => {
  const file = fileURLToPath(new URL('../../docs/tools.md', import.meta.url))
  const page = toolsPage(TOOLS)
  if (process.env['GOLDEN_WRITE']) writeFileSync(file, page)
  expect(readFileSync(file, 'utf8')).toBe(page)
})
