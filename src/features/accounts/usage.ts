import type { Kysely } from 'kysely'
import type { ServerSchema } from '../../db/server/schema.ts'

type Counted = 'oauth_grant' | 'personal_token'

const FLUSH_MS = 30_000

/**
 * How often each connection called and when it last did. Counted in memory and written every half minute: a commit to disk for
 * each call would cost more than the call. What a killed process had counted since is lost.
 */
export class Usage {
  readonly #db: Kysely<ServerSchema>
  readonly #onError: (error: unknown, where: string) => void
  #counted = new Map<string, { table: Counted; id: string; calls: number; at: Date }>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Kysely<ServerSchema>, onError: (error: unknown, where: string) => void) {
    this.#db = db
    this.#onError = onError
  }

  note(table: Counted, id: string, at: Date): void {
    const seen = this.#counted.get(id)
    if (seen) {
      seen.calls++
      seen.at = at
      return
    }
    this.#counted.set(id, { table, id, calls: 1, at })
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
    await this.#db.transaction().execute(async (db) => {
      for (const { table, id, calls, at } of counted.values()) {
        await db
          .updateTable(table)
          .set((row) => ({ calls: row('calls', '+', calls), last_used_at: at.toISOString() }))
          .where('id', '=', id)
          .execute()
      }
    })
  }

  async close(): Promise<void> {
    await this.flush()
  }
}
