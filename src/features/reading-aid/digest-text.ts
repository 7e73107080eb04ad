import { z } from 'zod'
import { Failure } from '../../core/failure.ts'
import type { LanguageModel, Outside } from '../../core/outside.ts'
import { codePointLength } from '../../core/text.ts'
import { digestOf } from '../texts/digest.ts'
import { sentenceSlice } from './sentences-of-text.ts'
import type { TextToRead } from './pick-passages.ts'
import { inLanguage, MATERIAL_ONLY } from './task-words.ts'
import { whyFellBack } from './why-fell-back.ts'

export interface DigestedText {
  /** In the order of the text: a model's own words, or sentences of the text where `by` is `built-in`. */
  sentences: string[]
  /** `built-in`, or the model's id. */
  by: string
  /** Where the model did not do it, one sentence that says why. */
  remark?: string
}

/** Of a longer text, so many stretches of so many characters are shown to a model, evenly taken. */
const WHOLE = 60_000
const STRETCHES = 20
const STRETCH = 3_000
const MOST_SENTENCES = 7
const LONGEST_SENTENCE = 600

const SCHEMA = {
  type: 'object',
  properties: { sentences: { type: 'array', items: { type: 'string' } } },
  required: ['sentences'],
  additionalProperties: false,
}

const answerShape = z.object({
  sentences: z
    .array(
      z.string().transform((text) =>
        text
          .toWellFormed()
          .replaceAll(/[\p{Cc}\s]+/gu, ' ')
          .trim(),
      ),
    )
    .transform((sentences) => sentences.filter((sentence) => sentence !== ''))
    .refine(
      (sentences) =>
        sentences.length > 0 &&
        sentences.length <= MOST_SENTENCES &&
        sentences.every((sentence) => codePointLength(sentence) <= LONGEST_SENTENCE),
    ),
})

/**
 * What a text says, in three to seven sentences: those of a configured language model, which is shown the text, else sentences
 * of the text itself. For callers that may call out: tools that read use `digestOf`.
 *
 * Throws what the signal gives, and nothing a model does.
 */
export async function digestText(
  { model }: Pick<Outside, 'model'>,
  text: Pick<TextToRead, 'title' | 'plain' | 'language'>,
  options: { signal?: AbortSignal } = {},
): Promise<DigestedText> {
  const builtIn = (): DigestedText => ({ sentences: digestOf(text.plain).sentences, by: 'built-in' })
  if (!model || text.plain.trim() === '') return builtIn()
  const without = (reason: string): DigestedText => ({
    ...builtIn(),
    remark: `These are sentences of the text, chosen without the language model: ${reason}.`,
  })
  try {
    const sentences = await ask(model, text, options.signal)
    return sentences ? { sentences, by: model.id } : without('its answer was no digest')
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!(error instanceof Failure)) throw error
    return without(whyFellBack(error))
  }
}

async function ask(
  model: LanguageModel,
  { title, plain, language }: Pick<TextToRead, 'title' | 'plain' | 'language'>,
  signal: AbortSignal | undefined,
): Promise<string[] | undefined> {
  const answer = await model.answer({
    task: `You tell a reader what a text says, in three to seven plain sentences, in the text's own language${inLanguage(language)} and in its order: what it claims, why, and what follows. Add nothing that it does not say.
${MATERIAL_ONLY}`,
    material: `Title: ${title}\n\n${shownOf(plain)}`,
    schema: SCHEMA,
    maxTokens: 1_500,
    ...(signal && { signal }),
  })
  return answerShape.safeParse(answer).data?.sentences
}

function shownOf(plain: string): string {
  if (plain.length <= WHOLE) return plain
  return Array.from({ length: STRETCHES }, (_, index) =>
    sentenceSlice(plain, Math.floor((index * (plain.length - STRETCH)) / (STRETCHES - 1)), STRETCH),
  ).join('\n\n[…]\n\n')
}
