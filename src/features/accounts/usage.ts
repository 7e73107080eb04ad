import type { Kysely } from 'kysely'
import type { ServerSchema } from '../../db/server/schema.ts'

type Counted = 'oauth_grant' | 'personal_token'

interface Count {
  table: Counted
  id: string
  calls: number
  at: Date
}

const FLUSH_MS = 30_000

/**
 * How often each connection called and when it last did. Counted in memory and written every half minute: a commit to disk for
 * each call would cost more than the call. What a killed process had counted since is lost.
 */
export class Usage {
  readonly #db: Kysely<ServerSchema>
  readonly #onError: (error: unknown, where: string) => void
  #counted = new Map<string, Count>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Kysely<ServerSchema>, onError: (error: unknown, where: string) => void) {
    this.#db = db
    this.#onError = onError
  }

  note(table: Counted, id: string, at: Date, calls = 1): void {
    const seen = this.#counted.get(id)
    if (seen) {
      seen.calls += calls
      if (at > seen.at) seen.at = at
      return
    }
    this.#counted.set(id, { table, id, calls, at })
    this.#timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) => this.#onError(error, 'usage'))
    }, FLUSH_MS).unref()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counted = this.#counted
    if (counted.size === 0) return
    this.#counted = new Map()
    try {
      await this.#write([...counted.values()])
    } catch (error) {
      // The database is gone, or full: they are written when it can be again.
      for (const { table, id, calls, at } of counted.values()) this.note(table, id, at, calls)
      throw error
    }
  }

  async #write(counted: Count[]): Promise<void> {
    // In one order: replicas that write at once would else wait for one another's rows.
    const inOrder = counted.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await this.#db.transaction().execute(async (db) => {
      for (const { table, id, calls, at } of inOrder) {
        const used = at.toISOString()
        await db
          .updateTable(table)
          .set((row) => ({
            calls: row('calls', '+', calls),
            // Another replica may have seen a later call.
            last_used_at: row
              .case()
              .when('last_used_at', '>', used)
              .then(row.ref('last_used_at'))
              .else(used)
              .end(),
          }))
          .where('id', '=', id)
          .execute()
      }
    })
  }

  async close(): Promise<void> {
    await this.flush()
  }
}
