import { fileURLToPath } from 'node:url'

/**
 * The file of a worker by its name in the build. Sources (tests run them) use the workers of `dist/` too, because Node 20
 * reads no TypeScript.
 */
export function workerFile(name: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/${name}.js` : `./${name}.js`, here))
}
