import { defineConfig } from 'vitest/config'
import { MUTATIONS } from './mutations.mjs'

// The sources as they would be without one rule; nothing on disk is changed.
const mutation = MUTATIONS[Number(process.env['MUTATION'])]
if (!mutation) throw new Error('MUTATION takes the number of a mutation')
const [, file, found, instead] = mutation

export default defineConfig({
  plugins: [
    {
      name: 'mutation',
      enforce: 'pre',
      transform(code: string, id: string) {
        if (!id.endsWith(file)) return undefined
        if (code.split(found).length !== 2) throw new Error(`This stands not once in ${file}: ${found}`)
        return { code: code.replace(found, () => instead), map: null }
      },
    },
  ],
  test: {
    include: ['test/oauth/*.test.ts', 'src/features/accounts/*.test.ts'],
    // One process that loads everything once: the tests of one file do not touch those of another.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 30_000,
    bail: 1,
  },
})
