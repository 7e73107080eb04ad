import type { LocalLibrary } from '../app/open-local.ts'
import type { Failure } from '../core/failure.ts'
import { sourceOf } from '../features/capture/capture-store.ts'
import type { Context } from './command.ts'
import type { LeftOut } from './gather-files.ts'
import { itemJson, named } from './item.ts'
import { oneLine, STYLE } from './print.ts'
import { count } from './when.ts'

/** One thing that was to be added, and what has come of it so far. */
export interface Added {
  /** What was typed, or the file below a folder that was. */
  given: string
  state: 'captured' | 'queued' | 'there already' | 'failed'
  sourceId?: number
  captureId?: number | undefined
  created?: boolean
  failure?: Failure
  source?: {
    id: number
    title: string
    url: string | null
    kind: Awaited<ReturnType<typeof sourceOf>>['kind']
    words: number | null
  }
  /** What the reader should know of a capture that went well. */
  remark?: string
}

export interface Outcome {
  items: Added[]
  leftOut: LeftOut[]
}

/** For a program that reads the output. */
export async function outcomeJson({ library }: LocalLibrary, { items, leftOut }: Outcome) {
  return {
    items: await Promise.all(
      items.map(async ({ given: word, state, created, failure, sourceId, source, remark }) => {
        const known =
          source ??
          (sourceId === undefined || failure
            ? undefined
            : await sourceOf(library.db, { source_id: sourceId }))
        return {
          given: word,
          state: state === 'there already' ? 'unchanged' : state,
          ...(known && { item: { ...itemJson(known), words: known.words } }),
          ...(created !== undefined && { created }),
          ...(remark && { note: remark }),
          ...(failure && { failure: failure.toJSON() }),
        }
      }),
    ),
    leftOut,
  }
}

/** For people: what failed on standard error, the rest on standard output. */
export function printOutcome({ out, err, args }: Context, { items, leftOut }: Outcome): void {
  const queued = items.filter(({ state }) => state === 'queued')
  for (const item of items) {
    if (item.failure) {
      err.line({ text: oneLine(`${item.given}: ${item.failure.message}`), style: STYLE.bad })
      err.line(`  ${oneLine(item.failure.hint)}`)
    } else if (item.source) {
      const words = item.source.words ? `, ${count(item.source.words, 'word')}` : ''
      const verb = item.state === 'captured' ? '' : ' was there already'
      out.line(
        { text: item.state === 'captured' ? '✓ ' : '= ', style: STYLE.good },
        ...named(item.source),
        `${verb}${words}`,
      )
      if (item.remark) out.paragraph(item.remark, '  ')
    } else if (item.state === 'there already')
      out.line({ text: '= ', style: STYLE.dim }, oneLine(item.given), {
        text: ` is there already (${item.sourceId})`,
        style: STYLE.dim,
      })
  }
  if (leftOut.length > 0) {
    out.line(`Left out ${count(leftOut.length, 'file or folder', 'files and folders')}:`)
    const most = args.on('wait') || leftOut.length <= 12 ? leftOut.length : 10
    for (const { path, reason } of leftOut.slice(0, most))
      out.line(`  ${oneLine(path)} `, { text: `(${reason})`, style: STYLE.dim })
    if (most < leftOut.length) out.line(`  … and ${leftOut.length - most} more (--json lists all)`)
  }
  if (queued.length > 0) {
    out.line(
      `${queued.length === 1 ? oneLine(queued[0]!.given) : count(queued.length, 'item')} will be captured in the background. `,
      {
        text: '`commonplace jobs` shows how far it is.',
        style: STYLE.dim,
      },
    )
  } else if (items.length === 0) out.line('There was nothing to add.')
}
