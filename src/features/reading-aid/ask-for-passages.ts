import { z } from 'zod'
import type { Embedder, LanguageModel } from '../../core/outside.ts'
import { findQuote, type Span } from '../highlights/anchor.ts'
import { foldText } from '../highlights/fold.ts'
import { countTerms } from '../texts/term-vectors.ts'
import { likeness, meaningsOf, type Said } from './likeness.ts'
import { sentencesOfText, type Candidate, type Stretch } from './sentences-of-text.ts'
import { inLanguage, MATERIAL_ONLY } from './task-words.ts'
import { weighTerms } from './terms-of-text.ts'
import { isTalk, standing, WIDEST } from './worth-of-words.ts'

export interface AskOptions {
  title: string
  language: string | null
  /** Most passages. */
  wanted: number
  /** Passages of the same text that were picked before. */
  already: readonly string[]
  embedder?: Embedder | undefined
  signal?: AbortSignal | undefined
}

const MOST_SENTENCES = 3
/** Asked for beyond what is wanted, as some will not do. */
const SPARE = 2
/** Tokens of a passage, at the most, and of what stands around them. */
const TOKENS_A_PASSAGE = 220
const TOKENS_AROUND = 400
/** Characters of an answer's passage outside of which none can be meant, and places of one that are looked at. */
const SHORTEST_QUOTE = 8
const MOST_PLACES = 20
const LONGEST_QUOTE = 3_000

/** Sentences that show how alike those of a text are. */
const SAMPLE = 24

const SCHEMA = {
  type: 'object',
  properties: {
    passages: {
      type: 'array',
      description: 'The passages, the best first, each exactly as it stands in the text.',
      items: { type: 'string' },
    },
  },
  required: ['passages'],
  additionalProperties: false,
}

const answerShape = z.object({ passages: z.array(z.string()) })

/**
 * Asks a language model for the passages of a stretch that are worth marking. Of its answer stays what stands in the text:
 * found verbatim or but for case, quotes, dashes and white space, widened to whole sentences, and held to the rules that hold
 * for what is built in: no furniture, no bare question, one to three sentences, none over another, no thought twice. The
 * words are always those of the text. Undefined where nothing stays.
 *
 * Throws what `answer` of a model does, and what the signal gives.
 */
export async function askForPassages(
  model: LanguageModel,
  stretch: Stretch,
  options: AskOptions,
): Promise<Span[] | undefined> {
  const { title, wanted, signal } = options
  const answer = await model.answer({
    task: taskFor(wanted + SPARE, options.language),
    material: `Title: ${title}\n\n${stretch.text}`,
    schema: SCHEMA,
    maxTokens: (wanted + SPARE) * TOKENS_A_PASSAGE + TOKENS_AROUND,
    ...(signal && { signal }),
  })
  const parsed = answerShape.safeParse(answer)
  if (!parsed.success) return undefined
  const spans = standingIn(stretch, parsed.data.passages.slice(0, 3 * (wanted + SPARE)))
  const unlike = await withoutRepeats(stretch, spans, options)
  return unlike.length === 0 ? undefined : unlike.slice(0, wanted).toSorted((a, b) => a.start - b.start)
}

const taskFor = (most: number, language: string | null): string =>
  `You mark passages in a text for someone who reads it: what they would underline and want to come back to.
Give at most ${most} passages, the best first; fewer where fewer are worth it.
- Each is one to three whole sentences, copied from the text character by character, in its own language${inLanguage(language)}.
- Each can be understood alone, without what stands around it.
- Claims, insights, definitions, striking facts and well-said thoughts. No bare questions, headings, captions, references, code, menus, notices or offers.
- No thought twice, and from all parts of the text.
${MATERIAL_ONLY}`

/** Where the passages of an answer stand in the text, widened to whole sentences, in the answer's order. */
function standingIn(stretch: Stretch, quotes: readonly string[]): Span[] {
  const folded = foldText(stretch.text)
  const sentences = [...sentencesOfText(stretch)]
  const found: Span[] = []
  for (const quote of quotes) {
    if (quote.length < SHORTEST_QUOTE || quote.length > LONGEST_QUOTE) continue
    const spans = findQuote(folded, quote)?.spans ?? []
    for (const span of spans.slice(0, MOST_PLACES)) {
      const whole = widen(stretch.text, span, sentences)
      if (!whole || found.some((other) => other.start < whole.end && whole.start < other.end)) continue
      found.push(whole)
      break
    }
  }
  return found
}

/** The whole sentences that a span is of, as many from its beginning as make a passage. */
function widen(text: string, span: Span, sentences: readonly Candidate[]): Span | undefined {
  const touched = sentences.filter((sentence) => {
    const shared = Math.min(span.end, endOf(sentence)) - Math.max(span.start, sentence.start)
    return shared > 0 && shared * 2 >= Math.min(sentence.text.length, span.end - span.start)
  })
  const [first] = touched
  if (!first) return undefined
  const together = touched.filter(
    (sentence, index) =>
      index < MOST_SENTENCES &&
      sentence.paragraph === first.paragraph &&
      endOf(sentence) - first.start <= WIDEST,
  )
  for (let many = together.length; many > 0; many--) {
    const whole = { start: first.start, end: endOf(together[many - 1]!) }
    const words = text.slice(whole.start, whole.end)
    if (isTalk(words) && standing(words, first.isWhole) > 0) return whole
  }
  return undefined
}

const endOf = ({ start, text }: Candidate): number => start + text.length

/** Sentences from all over, to see how alike those of this text are. */
function sampleOf(sentences: Iterable<Candidate>): string[] {
  const all = [...sentences]
  const step = Math.max(1, Math.floor(all.length / SAMPLE))
  return all.filter((_sentence, index) => index % step === 0).map(({ text }) => text)
}

async function withoutRepeats(
  stretch: Stretch,
  spans: readonly Span[],
  options: AskOptions,
): Promise<Span[]> {
  const { title, already, embedder, signal } = options
  const terms = await weighTerms(stretch, title, signal)
  const saidIn = (text: string): Said => ({ text, vector: terms.vectorOf(countTerms(text)) })
  const before = already.map(saidIn)
  const passages = spans.map((span) => ({ span, said: saidIn(stretch.text.slice(span.start, span.end)) }))
  const all = [...before, ...passages.map(({ said }) => said)]
  const meanings =
    embedder && all.length > 1
      ? await meaningsOf(
          all.map(({ text }) => text),
          embedder,
          { usual: sampleOf(sentencesOfText(stretch)), signal },
        )
      : undefined
  for (const [index, said] of all.entries()) {
    const meaning = meanings?.vectors[index]
    if (meaning) said.meaning = meaning
  }
  const kept: typeof passages = []
  for (const passage of passages) {
    const isNew = [...before, ...kept.map(({ said }) => said)].every(
      (other) => likeness(passage.said, other, meanings?.same ?? Infinity) < 1,
    )
    if (isNew) kept.push(passage)
  }
  return kept.map(({ span }) => span)
}
