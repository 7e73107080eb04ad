import { defineConfig } from 'vitest/config'

/** What is of SQLite alone: its files, FTS5 and the program that works on them. */
const ON_SQLITE = ['src/**/*.test.ts', 'test/**/*.test.ts']
/** What goes through a library, whatever keeps it; and what is of PostgreSQL alone. */
const ON_POSTGRES = [
  'src/{core,db,jobs,tools,mcp}/*.test.ts',
  'src/features/{!(accounts|capture),capture/tools}/**/*.test.ts',
  'src/features/capture/save-cases.test.ts',
  'src/app/export-*.test.ts',
  'src/db/postgres/**/*.test.ts',
  'test/contract/**/*.test.ts',
  'test/oauth/**/*.test.ts',
  'test/http/!(process|watching|no-room).test.ts',
  'test/postgres/**/*.test.ts',
  'test/replicas/**/*.test.ts',
]
const EXCLUDED = ['**/node_modules/**']
const POSTGRES_ALONE = ['test/postgres/**', 'test/replicas/**', 'src/db/postgres/**']

const SHARED = {
  pool: 'forks',
  maxWorkers: 2,
  testTimeout: 30_000,
  // Hooks start programs, and a machine may have other work.
  hookTimeout: 60_000,
} as const

export default defineConfig({
  test: {
    maxWorkers: 2,
    // Workers and the command line run from the build: this makes it once before the tests.
    globalSetup: ['test/support/build.ts'],
    projects: [
      { test: { ...SHARED, name: 'sqlite', include: ON_SQLITE, exclude: [...EXCLUDED, ...POSTGRES_ALONE] } },
      {
        test: {
          ...SHARED,
          name: 'postgres',
          include: ON_POSTGRES,
          exclude: EXCLUDED,
          globalSetup: ['test/support/postgres-setup.ts'],
          env: { COMMONPLACE_TEST_DATABASE: 'postgres' },
          // Each statement is a way to another process and back.
          testTimeout: 90_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
