// One vitest that stays, so that a mutation costs a test and not a start. Nothing on disk is changed: the sources are read as
// they would be without one rule.
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'
import { MUTATIONS } from './mutations.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
let current

const mutation = {
  name: 'mutation',
  enforce: 'pre',
  transform(code, id) {
    if (!current || !id.endsWith(`/${current[1]}`)) return undefined
    const [, file, found, instead] = current
    if (code.split(found).length !== 2) throw new Error(`This stands not once in ${file}: ${found}`)
    return { code: code.replace(found, () => instead), map: null }
  },
}

const vitest = await createVitest(
  'test',
  {
    root,
    config: false,
    watch: false,
    include: [
      'test/oauth/*.test.ts',
      'src/features/accounts/*.test.ts',
      'src/outside/mail.test.ts',
      'src/http/address-of.test.ts',
      'test/http/events.test.ts',
      'test/http/files.test.ts',
    ],
    pool: 'threads',
    // Everything is loaded once: the tests of one file do not touch those of another.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 30_000,
    bail: 1,
    reporters: [{}],
  },
  { plugins: [mutation] },
)
await vitest.standalone()

/**
 * Runs a file, or one test of it. `failed` is undefined where all passed; `loaded` says whether there were tests at all: a file
 * that cannot be read with a mutation says nothing about the rule.
 */
async function run(file, test) {
  if (test === undefined) vitest.resetGlobalTestNamePattern()
  else
    vitest.setGlobalTestNamePattern(
      new RegExp(`${test.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}$`),
    )
  const { testModules } = await vitest.runTestSpecifications(await vitest.globTestSpecifications([file]))
  // What other files had to say in earlier runs stands here as well.
  const module = testModules.find(({ moduleId }) => moduleId === root + file)
  if (!module) throw new Error(`${file} was not run`)
  const tests = [...module.children.allTests()]
  const failing = tests.find((one) => one.result().state === 'failed')
  // What fails before the first test or after the last fails the file.
  const failed = failing ? { test: nameOf(failing) } : module.ok() ? undefined : {}
  return { loaded: tests.length > 0, failed }
}

/** As patterns are compared with: the names of its suites and its own, by spaces. */
function nameOf(test) {
  const names = [test.name]
  for (let at = test.parent; at.type === 'suite'; at = at.parent) names.unshift(at.name)
  return names.join(' ')
}

function set(next) {
  for (const one of [current, next]) if (one) vitest.invalidateFile(root + one[1])
  current = next
}

async function notices(file, test) {
  const { loaded, failed } = await run(file, test)
  return loaded && failed ? failed : undefined
}

async function mutate({ number, known, order }) {
  set(MUTATIONS[number])
  if (known?.length === 2 && (await notices(...known))) return known
  for (const file of known ? [known[0], ...order] : order) {
    const noticed = await notices(file)
    const caught = noticed && (await confirmed(number, file, noticed))
    if (caught) return caught
  }
  return undefined
}

/**
 * What fails has to fail again, and to pass with the rule in its place: by itself, then it is known by the test's name, or with
 * its whole file. Else it was not the mutation.
 */
async function confirmed(number, file, { test }) {
  for (const by of test === undefined ? [[file]] : [[file, test], [file]]) {
    set(MUTATIONS[number])
    const again = await notices(...by)
    set(undefined)
    const { loaded, failed } = await run(...by)
    if (again && loaded && !failed) return by
  }
  set(MUTATIONS[number])
  return undefined
}

process.on('message', (question) => {
  void (async () => {
    if (question.what === 'files') {
      const found = await vitest.globTestSpecifications()
      return { files: found.map(({ moduleId }) => moduleId.slice(root.length)) }
    }
    if (question.what === 'run') return run(question.file)
    const caught = await mutate(question)
    set(undefined)
    return { caught }
  })().then(
    (answer) => process.send(answer),
    (error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
      process.exit(1)
    },
  )
})
