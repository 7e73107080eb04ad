/**
 * Runs the command line and ends the process with its exit code. What serves an assistant is loaded without anything that
 * only people need, and standard output is left to it.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const at = commandIndex(argv)
  if (argv[at] === 'mcp' && !argv.some((token) => token === '--help' || token === '-h')) {
    const { run } = await import('./commands/mcp.ts')
    process.exitCode = await run(argv.toSpliced(at, 1))
    return
  }
  const { runCommand } = await import('./run-command.ts')
  await runCommand(argv[at], argv.toSpliced(at, at < argv.length ? 1 : 0))
}

/** Where the command's name stands: global flags may come before it. */
function commandIndex(argv: readonly string[]): number {
  let at = 0
  while (at < argv.length && argv[at]!.startsWith('-') && argv[at] !== '-')
    at += argv[at] === '--library' ? 2 : 1
  return Math.min(at, argv.length)
}
