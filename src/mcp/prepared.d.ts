/** What `definitions.ts` gives as the build left it: data alone, so that a server starts without the tools' code. */
declare module 'commonplace:definitions' {
  import type { Definition, Promptable, Readable } from './definitions.ts'
  export const DEFINITIONS: readonly Definition[]
  export const READABLE: readonly Readable[]
  export const PROMPTABLE: readonly Promptable[]
}
