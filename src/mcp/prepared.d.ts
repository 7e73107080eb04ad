/** `DEFINITIONS` as the build left them: data alone, so that a server starts without the tools' code. */
declare module 'commonplace:definitions' {
  import type { Definition } from './definitions.ts'
  export const DEFINITIONS: readonly Definition[]
}
