#!/usr/bin/env node
// Takes each rule away in turn and runs the tests, which must fail: `node test/oauth/run-mutations.mjs [words | --new]`, where
// words choose the mutations whose name or file holds them, and --new those of which it is not known what notices them.
// `caught-by.json` says which test noticed each the last time: that one is tried first, and only where it does not notice all
// the others are. Outside of CI what is learned is written there.
import { fork, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { MUTATIONS } from './mutations.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const recordFile = fileURLToPath(new URL('caught-by.json', import.meta.url))
/** By what is lost: `[test file]`, or `[test file, full name of the test]`. */
const record = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {}
const say = (line) => process.stdout.write(`${line}\n`)

if (new Set(MUTATIONS.map(([lost]) => lost)).size !== MUTATIONS.length)
  throw new Error('Two mutations have one name')

const words = process.argv.slice(2).join(' ')
const chosen = [...MUTATIONS.entries()].filter(([, [lost, file]]) =>
  words === '--new' ? record[lost]?.length !== 2 : `${file} ${lost}`.includes(words),
)
for (const [, [lost, file, found]] of chosen) {
  const times = readFileSync(`${root}/${file}`, 'utf8').split(found).length - 1
  if (times !== 1) throw new Error(`"${lost}": what it takes away stands ${times} times in ${file}`)
}
if (chosen.length === 0) throw new Error(`No mutation has "${words}" in its name or file`)

const begun = performance.now()
const seconds = () => Math.round((performance.now() - begun) / 1_000)
const startWorker = () =>
  fork(fileURLToPath(new URL('mutation-worker.mjs', import.meta.url)), {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
const workers = Array.from({ length: Math.min(2, availableParallelism()) }, startWorker)

/** The answer of a worker; one that dies over a question is replaced. */
const ask = (at, question) =>
  new Promise((resolve, reject) => {
    const worker = workers[at]
    const gone = (code, signal) => {
      workers[at] = startWorker()
      reject(new Error(`a worker ended with ${signal ?? code}`))
    }
    worker.once('exit', gone)
    worker.once('message', (answer) => {
      worker.off('exit', gone)
      resolve(answer)
    })
    worker.send(question)
  })

/** Gives each worker the next piece as soon as it has done one. */
async function spread(pieces, work) {
  const left = [...pieces]
  await Promise.all(
    workers.map(async (_, at) => {
      for (let piece = left.shift(); piece !== undefined; piece = left.shift()) await work(at, piece)
    }),
  )
}

try {
  // A test that fails anyway notices nothing: each file passes with every rule in its place.
  const { files } = await ask(0, { what: 'files' })
  const needed = files.filter(
    (file) => chosen.some(([, [lost]]) => record[lost]?.[0] === file) || words === '',
  )
  const passes = async (at, file) => {
    const { failed } = await ask(at, { what: 'run', file })
    if (failed)
      throw new Error(`${file} fails with every rule in its place: ${failed.test ?? 'not in a test'}`)
  }
  await spread(needed, passes)
  say(`the tests pass with every rule in its place (${seconds()} s)`)

  const missed = []
  let anew = 0
  await spread(chosen, async (at, [number, [lost, file]]) => {
    const known = record[lost]
    // Tests that noticed other rules of this file are the likeliest to notice this one.
    const likely = (test) => MUTATIONS.filter(([l, f]) => f === file && record[l]?.[0] === test).length
    const order = files.toSorted((a, b) => likely(b) - likely(a))
    const question = { what: 'mutate', number, known, order }
    const { caught } = await ask(at, question).catch((error) => {
      say(`${lost}: ${error.message}; asked once more`)
      return ask(at, question)
    })
    if (!caught) missed.push(lost)
    else if (JSON.stringify(caught) !== JSON.stringify(known)) {
      record[lost] = caught
      anew++
    }
    say(`${caught ? 'noticed' : 'MISSED '} ${lost}: ${caught ? caught.join(' > ') : file}`)
  })
  // And after all: no mutation stayed behind to be noticed in the place of the next.
  await Promise.all(workers.map((_, at) => passes(at, needed.at(at) ?? files[0])))
  if (anew > 0 && !process.env.CI) {
    const kept = MUTATIONS.flatMap(([lost]) => (record[lost] ? [[lost, record[lost]]] : []))
    const lines = kept.map(([lost, by]) => `  ${JSON.stringify(lost)}: ${JSON.stringify(by)}`)
    writeFileSync(recordFile, `{\n${lines.join(',\n')}\n}\n`)
    spawnSync(process.execPath, ['node_modules/oxfmt/bin/oxfmt', recordFile], { cwd: root })
  }
  say(`${anew} noticed by another test than before, ${seconds()} s`)
  for (const lost of missed) say(`missed: ${lost}`)
  say(`${chosen.length - missed.length} passed, ${missed.length} failed`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  for (const worker of workers) worker.kill()
}
