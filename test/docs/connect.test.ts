/** The guides for assistants: what they print can be pasted, and says the same as the program. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { assistantLines } from '../../src/cli/commands/connect.ts'
import { readLocalConfig } from '../../src/config/local.ts'
import { readServerConfig } from '../../src/config/server.ts'
import { FAMILIES } from '../../src/core/define-tool.ts'
import { faultOfRedirectUri } from '../../src/features/accounts/redirect-uri.ts'
import { blocksOf, read, ROOT } from './documents.ts'

const guides = readdirSync(join(ROOT, 'docs/connect')).map((name) => join('docs/connect', name))
const ADDRESS = /^(https:\/\/books\.example\.org|http:\/\/localhost:3210)\/mcp(\?tools=[a-z,]+)?$/

/** The entry of Commonplace in an assistant's settings. */
function entryOf(text: string): Record<string, unknown> {
  const { mcpServers, servers, extensions } = parse(text)
  return (mcpServers ?? servers ?? extensions).commonplace
}

describe.each(guides)('%s', (guide) => {
  const markdown = read(guide)

  it('has settings that can be read, each with an address of ours or a program', () => {
    for (const { language, text } of blocksOf(markdown)) {
      if (language !== 'json' && language !== 'yaml') continue
      if (language === 'json') JSON.parse(text)
      const { url, httpUrl, uri, command, cmd } = entryOf(text)
      const address = url ?? httpUrl ?? uri
      if (address === undefined) expect(command ?? cmd).toBe('/usr/bin/node')
      else expect(address).toMatch(ADDRESS)
    }
  })

  it('has commands that a shell reads', () => {
    for (const { language, text } of blocksOf(markdown)) {
      if (language !== 'sh') continue
      expect(spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' }).stderr).toBe('')
      for (const [address] of text.matchAll(/https?:\/\/[^\s"]+/g)) expect(address).toMatch(ADDRESS)
    }
  })

  it('names no address to come back to that the server would refuse', () => {
    for (const [, address = ''] of markdown.matchAll(/comes? back to `([^`]+)`/g))
      expect(faultOfRedirectUri(address), address).toBeUndefined()
  })
})

it('prints what `commonplace connect` prints, but for the paths', () => {
  const lines = assistantLines({
    config: () => readLocalConfig({}),
    args: { given: () => false } as never,
    env: {},
    readOnly: false,
  })
  const guideOf: Record<string, string> = { 'claude-desktop': 'claude' }
  const path = {
    command: '/usr/bin/node',
    cmd: '/usr/bin/node',
    args: ['/opt/commonplace/dist/main.js', 'mcp'],
  }
  for (const { id, settings, command } of lines) {
    const guide = read(`docs/connect/${guideOf[id] ?? id}.md`)
    if (id === 'claude-code') {
      expect(guide).toContain(command?.replace(/ -- .*/, ` -- ${path.command} ${path.args.join(' ')}`))
      continue
    }
    const printed = entryOf(settings ?? '')
    for (const name of ['command', 'cmd', 'args'] as const) if (name in printed) printed[name] = path[name]
    const shown = blocksOf(guide)
      .filter(({ language }) => language === 'json' || language === 'yaml')
      .map(({ text }) => entryOf(text))
    expect(shown, id).toContainEqual(printed)
  }
})

it('says what the server has: families, limits, and the words of its pages', () => {
  const text = read('docs/connect/README.md').replaceAll(/\s+/g, ' ')
  for (const family of FAMILIES) expect(text).toContain(`\`${family}\``)
  const { reads, writes } = readServerConfig({})
  expect([reads.perMinute, writes.perMinute]).toEqual([60, 30])
  expect(text).toContain('sixty reads or thirty writes in a minute')
  for (const [words, file] of [
    ['does not answer to that host name', 'src/http/app.ts'],
    ['too old or was sent from another site', 'src/http/oauth/consent.ts'],
  ] as const) {
    expect(text).toContain(words)
    expect(read(file)).toContain(words)
  }
})
