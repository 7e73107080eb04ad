import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Workers and the command line run from the build: this makes it once before the tests.
    globalSetup: ['test/support/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    // Hooks start programs, and a machine may have other work.
    hookTimeout: 60_000,
  },
})
