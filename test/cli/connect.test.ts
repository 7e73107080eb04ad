import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace

beforeAll(() => {
  at = openWorkspace()
})
afterAll(() => at.remove())

/** The entry of Commonplace in what is put into a settings file: JSON, or YAML, of which JSON is a part. */
function entryOf(settings: string) {
  const { mcpServers, servers, extensions } = parse(settings)
  const entry = (mcpServers ?? servers ?? extensions).commonplace
  return extensions ? { ...entry, command: entry.cmd, env: entry.envs } : entry
}

/** What a program started so answers to `initialize`, and the tools that it offers. */
async function greet(command: string, args: readonly string[]) {
  const { COMMONPLACE_LIBRARY: _library, ...env } = at.env
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return JSON.parse((await lines.next()).value).result
  }
  const hello = await ask(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  const { tools } = await ask(2, 'tools/list', {})
  child.stdin.end()
  await once(child, 'exit')
  return { name: hello.serverInfo.name, tools: tools.map((tool: { name: string }) => tool.name) }
}

describe('connect', () => {
  it('prints for every assistant what really starts this server on this library', async () => {
    const { stdout } = await at.run(['connect', '--json'])
    const { server, assistants } = JSON.parse(stdout)
    expect(server.args).toEqual(expect.arrayContaining(['mcp', '--library', at.library]))
    for (const { settings } of assistants) {
      if (settings === undefined) continue
      expect(entryOf(settings)).toMatchObject(server)
    }
    const { name, tools } = await greet(server.command, server.args)
    expect(name).toBe('commonplace')
    expect(tools).toContain('save_url')
  })

  it('with --read-only, what starts a server that writes nothing', async () => {
    await at.run(['welcome', '--remove'])
    const { server } = JSON.parse((await at.run(['connect', '--read-only', '--json'])).stdout)
    const { tools } = await greet(server.command, server.args)
    expect(tools).toContain('read_item')
    expect(tools).not.toContain('save_url')
  })

  it('hands on which embedder the library has, and no key', async () => {
    const env = {
      COMMONPLACE_EMBEDDER: 'openai',
      COMMONPLACE_EMBEDDER_URL: 'https://models.example/v1',
      COMMONPLACE_EMBEDDER_MODEL: 'small',
      COMMONPLACE_EMBEDDER_KEY: 'SECRET',
    }
    const { stdout } = await at.run(['connect', '--json'], { env })
    expect(stdout).not.toContain('SECRET')
    const { server, assistants } = JSON.parse(stdout)
    expect(server.env).toEqual({ ...env, COMMONPLACE_EMBEDDER_KEY: '<your key>' })
    for (const { settings } of assistants) {
      if (settings === undefined) continue
      expect(entryOf(settings).env).toEqual(server.env)
    }
    expect(assistants[0].command).toContain(
      '-e COMMONPLACE_EMBEDDER=openai -e COMMONPLACE_EMBEDDER_URL=https://models.example/v1',
    )
    expect(assistants[0].command).toContain("-e 'COMMONPLACE_EMBEDDER_KEY=<your key>' -- ")
  })

  it('gives the lines of one assistant, and says which it knows', async () => {
    const { stdout } = await at.run(['connect', 'claude-code'])
    expect(stdout).toMatch(
      /^Claude Code\n {2}claude mcp add commonplace --scope user -- \S+ \S+main\.js mcp --library \S+\n$/,
    )
    expect((await at.run(['connect', 'emacs'])).stderr).toContain(
      'claude-code, claude-desktop, cursor, vscode, gemini-cli, goose',
    )
  })
})
