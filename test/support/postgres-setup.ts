import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the PostgreSQL of this run, of a role that may do everything. */
    postgresUrl: string
  }
}

/** Starts PostgreSQL once for all tests that run on it; they take its address with `inject('postgresUrl')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres()
  project.provide('postgresUrl', url)
  return stop
}
