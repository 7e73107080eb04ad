import { z } from 'zod'
import type { Touched } from '../db/changes.ts'
import type { Db } from '../db/schema.ts'

/** Who changed the library, with what. */
export interface Author {
  /** `cli`, or the assistant's own name. */
  connection: string
  tool: string
  intent?: string
  requestId?: string
}

/** Past this many rows an entry only counts them: a bulk import is undone as an import. */
const AUDITED_ROWS = 1_000

/** Notes who changed what, in the transaction of the change. */
export async function writeAudit(
  db: Db,
  entry: { id: number; at: string; touched: readonly Touched[] },
  { connection, tool, intent, requestId }: Author,
): Promise<void> {
  const { id, at, touched } = entry
  await db
    .insertInto('audit')
    .values({
      id,
      at,
      connection,
      tool,
      intent: intent ?? null,
      request_id: requestId ?? null,
      changes: JSON.stringify(touched.length > AUDITED_ROWS ? countByTable(touched) : touched),
      undone_at: null,
    })
    .execute()
}

interface Counted {
  table: string
  op: string
  count: number
}

function countByTable(touched: readonly Touched[]): Counted[] {
  const counts = new Map<string, Counted>()
  for (const { table, op } of touched) {
    const entry = counts.get(`${table} ${op}`) ?? { table, op, count: 0 }
    entry.count++
    counts.set(`${table} ${op}`, entry)
  }
  return [...counts.values()]
}

export const auditedChange = z.object({
  table: z.string(),
  op: z.enum(['insert', 'update', 'erase']),
  /** The row; absent where there were too many to name. */
  id: z.number().optional(),
  count: z.number().default(1),
  /** What the fields that changed were before. */
  before: z.record(z.string(), z.unknown()).optional(),
})

/** One row changed, or how many of a table. */
export type AuditedChange = z.output<typeof auditedChange>

export interface AuditEntry {
  id: number
  /** ISO 8601. */
  at: string
  connection: string
  tool: string
  intent: string | null
  requestId: string | null
  changes: AuditedChange[]
}

/** Who changed what, the last change first. */
export async function listAudit(
  db: Db,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<AuditEntry[]> {
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ id, at, connection, tool, intent, request_id, changes }) => ({
    id,
    at,
    connection,
    tool,
    intent,
    requestId: request_id,
    changes: z.array(auditedChange).parse(JSON.parse(changes)),
  }))
}
