#!/usr/bin/env node
// Takes each rule away in turn and runs the tests, which must fail: `node test/oauth/run-mutations.mjs [first] [count]`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MUTATIONS } from './mutations.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const first = Number(process.argv[2] ?? 0)
const last = first + Number(process.argv[3] ?? MUTATIONS.length)

for (const [lost, file, found] of MUTATIONS) {
  const times = readFileSync(`${root}/${file}`, 'utf8').split(found).length - 1
  if (times !== 1) throw new Error(`"${lost}": what it takes away stands ${times} times in ${file}`)
}
const say = (line) => process.stdout.write(`${line}\n`)
let missed = 0
for (const [number, [lost]] of MUTATIONS.entries()) {
  if (number < first || number >= last) continue
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/oauth/mutations.config.ts', '--reporter=dot'],
    { cwd: root, encoding: 'utf8', env: { ...process.env, MUTATION: String(number), NO_COLOR: '1' } },
  )
  // A suite that did not come to run shows nothing.
  const ran = /^ +Tests .*(passed|failed)/m.test(stdout)
  const noticed = status !== 0 && ran
  if (!noticed) missed++
  const test = /FAIL +(.+)/.exec(stderr)?.[1] ?? (ran ? '' : 'the tests did not run')
  say(`${noticed ? 'noticed' : 'MISSED '} ${number} ${lost}: ${test}`)
}
say(missed === 0 ? 'every one was noticed' : `${missed} were missed`)
process.exitCode = missed === 0 ? 0 : 1
