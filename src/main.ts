#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Commonplace needs Node 20.19 or newer; this is ${process.version}.\n` +
      'Install a newer Node from https://nodejs.org and try again.\n',
  )
  process.exitCode = 1
} else {
  // Loaded only now: an older Node may not be able to read the rest.
  const { main } = await import('./cli/main.ts')
  await main(process.argv.slice(2))
}
