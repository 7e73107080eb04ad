import { Failure } from '../../core/failure.ts'
import type { LanguageModel, Outside } from '../../core/outside.ts'
import { codePointLength, indexOfCodePoint } from '../../core/text.ts'
import type { Span } from '../highlights/anchor.ts'
import { askForPassages } from './ask-for-passages.ts'
import { choosePassages } from './choose-passages.ts'
import { MOST_PASSAGES, passagesIn } from './how-many.ts'
import { sectionEnd } from './sentences-of-text.ts'
import { whyFellBack } from './why-fell-back.ts'

/** A text to pick from. Offsets count code points of `plain`, as everywhere. */
export interface TextToRead {
  title: string
  plain: string
  /** BCP 47, where it is known. */
  language: string | null
  /** The stretch to pick from, the whole text where absent. Stretches that part a text together get what the whole would. */
  from?: number
  to?: number
}

/** Words of the text, exactly: `plain` from `start` to `end`. */
export interface PickedPassage {
  start: number
  end: number
  quote: string
}

export interface Picked {
  /** In the order of the text, none over another. */
  passages: PickedPassage[]
  /** `built-in`, or the id of the model that picked them or some of them. */
  by: string
  /** Where something fell back, one sentence that says what and why. */
  remark?: string
}

export interface PickOptions {
  signal?: AbortSignal
  /** Quotes picked from other stretches of the same text: nothing that says the same is picked. */
  already?: readonly string[]
}

/**
 * Picks the passages of a text, or of a stretch of it, that are worth marking: about one in 300 words, at most 40 of a
 * whole text, spread over it, no thought twice, every one verbatim. A configured language model is asked, with that stretch
 * and nothing more; where it does not answer or nothing of its answer stands in the text, what is built in picks. Without a
 * model the same text and embedder give the same passages. Others get their turn meanwhile; a book costs up to a few seconds.
 *
 * Throws what the signal gives, and nothing a model does.
 */
export async function pickPassages(
  outside: Pick<Outside, 'model' | 'embedder'>,
  text: TextToRead,
  options: PickOptions = {},
): Promise<Picked> {
  const { plain } = text
  const start = text.from === undefined ? 0 : indexOfCodePoint(plain, text.from)
  const end = text.to === undefined ? plain.length : indexOfCodePoint(plain, text.to)
  const already = options.already ?? []
  const picking = new Picking(outside, text, { ...options, already })
  const left = MOST_PASSAGES - already.length
  if (outside.model) await picking.byModel(outside.model, { start, end }, left)
  else await picking.builtIn({ start, end }, left)
  const remark = picking.remark()
  return {
    passages: inCodePoints(plain, picking.spans),
    by: picking.by,
    ...(remark !== undefined && { remark }),
  }
}

/** Passages as they come, as spans of the whole text. */
class Picking {
  readonly spans: Span[] = []
  by = 'built-in'
  #outside: Pick<Outside, 'model' | 'embedder'>
  #text: TextToRead
  #signal: AbortSignal | undefined
  #already: readonly string[]
  #reasons = new Set<string>()
  #byWordsAlone = false

  constructor(
    outside: Pick<Outside, 'model' | 'embedder'>,
    text: TextToRead,
    { signal, already }: PickOptions & { already: readonly string[] },
  ) {
    this.#outside = outside
    this.#text = text
    this.#signal = signal
    this.#already = already
  }

  /** Section by section; the rest by what is built in once the model does not answer at all. */
  async byModel(model: LanguageModel, span: Span, most: number): Promise<void> {
    for (let start = span.start; start < span.end;) {
      const end = sectionEnd(this.#text.plain, start, span.end)
      const section = { start, end }
      const wanted = Math.min(passagesIn(this.#text.plain, section), most - this.spans.length)
      if (wanted > 0) {
        const asked = await this.#ask(model, section, wanted)
        if (asked === 'gone') return this.builtIn({ start, end: span.end }, most)
        if (asked === 'no use') await this.builtIn(section, most)
      }
      start = end
    }
  }

  async builtIn(span: Span, most: number): Promise<void> {
    const wanted = Math.min(passagesIn(this.#text.plain, span), most - this.spans.length)
    const { spans, embedderFailed } = await choosePassages(this.#stretch(span), {
      wanted,
      title: this.#text.title,
      already: this.#said(),
      embedder: this.#outside.embedder,
      signal: this.#signal,
    })
    if (embedderFailed) this.#byWordsAlone = true
    this.#add(span, spans)
  }

  remark(): string | undefined {
    const remarks: string[] = []
    const [reason] = this.#reasons
    if (reason !== undefined) {
      const what = this.by === 'built-in' ? 'The passages' : 'Some of the passages'
      remarks.push(`${what} were picked without the language model: ${reason}.`)
    } else if (this.#byWordsAlone) {
      remarks.push('The passages were compared by their words alone: no embedding could be made.')
    }
    return remarks[0]
  }

  async #ask(model: LanguageModel, section: Span, wanted: number): Promise<'gone' | 'no use' | 'done'> {
    try {
      const spans = await askForPassages(model, this.#stretch(section), {
        title: this.#text.title,
        language: this.#text.language,
        wanted,
        already: this.#said(),
        embedder: this.#outside.embedder,
        signal: this.#signal,
      })
      if (spans) {
        this.by = model.id
        this.#add(section, spans)
        return 'done'
      }
      this.#reasons.add('nothing it answered stands in the text')
      return 'no use'
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (!(error instanceof Failure)) throw error
      this.#reasons.add(whyFellBack(error))
      return error.code === 'model_refused' ? 'no use' : 'gone'
    }
  }

  #stretch({ start, end }: Span) {
    const { plain } = this.#text
    return { text: plain.slice(start, end), before: start, whole: plain.length }
  }

  #said(): string[] {
    return [...this.#already, ...this.spans.map(({ start, end }) => this.#text.plain.slice(start, end))]
  }

  #add(within: Span, spans: readonly Span[]): void {
    for (const { start, end } of spans) {
      this.spans.push({ start: within.start + start, end: within.start + end })
    }
  }
}

/** Spans in order, as passages. */
function inCodePoints(plain: string, spans: readonly Span[]): PickedPassage[] {
  const passages: PickedPassage[] = []
  let at = 0
  let points = 0
  for (const { start, end } of spans) {
    points += codePointLength(plain.slice(at, start))
    const quote = plain.slice(start, end)
    const length = codePointLength(quote)
    passages.push({ start: points, end: points + length, quote })
    points += length
    at = end
  }
  return passages
}
