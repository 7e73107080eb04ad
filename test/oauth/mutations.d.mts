/** What is lost, the file, the text that stands there once, what stands there instead. */
export declare const MUTATIONS: readonly (readonly [
  lost: string,
  file: string,
  found: string,
  instead: string,
])[]
