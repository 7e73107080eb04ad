import { setImmediate } from 'node:timers'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

interface Waiting<A, R> {
  asked: A
  resolve(answer: R): void
  reject(error: unknown): void
}

/**
 * Answers what is asked in one turn of the process in one transaction at its end, in the order in which it was asked: one write to
 * the file for all of it. Whoever waited then goes on at once, one after the other, which is most of the gain: the same work done
 * several times in a row finds its code and data where the processor is quick to reach them. Where the transaction fails, it
 * fails for all.
 */
export function together<A, R>(
  database: DatabaseSyncInstance,
  answer: (asked: A) => R,
): (asked: A) => Promise<R> {
  let waiting: Waiting<A, R>[] = []

  function answerAll(): void {
    const all = waiting
    waiting = []
    try {
      const answers = all.length === 1 ? all.map(one) : inTransaction(database, () => all.map(one))
      for (const [n, { resolve }] of all.entries()) resolve(answers[n]!)
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }

  const one = ({ asked }: Waiting<A, R>): R => answer(asked)

  return (asked) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ asked, resolve, reject }) === 1) setImmediate(answerAll)
    })
}

function inTransaction<R>(database: DatabaseSyncInstance, work: () => R): R {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    // A full disk may have ended it already.
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}
