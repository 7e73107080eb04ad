import { z } from 'zod'
import { Failure } from '../core/failure.ts'

/** The variables of the language model that helps with reading. */
export const modelVariables = {
  COMMONPLACE_MODEL: z.enum(['openai', 'anthropic', 'google', 'ollama', 'off']).optional(),
  COMMONPLACE_MODEL_NAME: z
    .string()
    .regex(/^[^\s\p{Cc}]{1,200}$/u, 'a name without spaces')
    .optional(),
  COMMONPLACE_MODEL_URL: z.url({ protocol: /^https?$/ }).optional(),
  // What else is in a header's value, or a line break at the end of a file, would stand in the message of whoever refuses it.
  COMMONPLACE_MODEL_KEY: z
    .string()
    .regex(/^[!-~]{1,4096}$/, 'a key without spaces')
    .optional(),
}

/** The language model that is asked, or none. */
export type ModelConfig =
  | { kind: 'off' }
  | {
      kind: 'openai' | 'anthropic' | 'google' | 'ollama'
      /** The provider's own address where absent. */
      url: string | undefined
      name: string
      apiKey: string | undefined
    }

/** Models that are good enough for this work and cheap; a server of one's own has others. */
const USUAL_NAMES: Record<Exclude<ModelConfig['kind'], 'off'>, string | undefined> = {
  openai: 'gpt-5-mini',
  anthropic: 'claude-haiku-4-5',
  google: 'gemini-flash-latest',
  ollama: undefined,
}

/** Throws `invalid_input` with what is missing. */
export function modelOf(given: z.output<z.ZodObject<typeof modelVariables>>): ModelConfig {
  const { COMMONPLACE_MODEL: kind, COMMONPLACE_MODEL_URL: url, COMMONPLACE_MODEL_KEY: apiKey } = given
  const { COMMONPLACE_MODEL_NAME: chosen } = given
  if (kind === undefined) {
    const alone = Object.entries(given).find(([, value]) => value !== undefined)?.[0]
    if (alone === undefined) return { kind: 'off' }
    throw missing(
      `${alone} needs COMMONPLACE_MODEL as well.`,
      'Set it to openai, anthropic, google, ollama or off.',
    )
  }
  if (kind === 'off') return { kind }
  if (url !== undefined) {
    const { username, password, search } = new URL(url)
    if (username !== '' || password !== '' || search !== '') {
      throw missing(
        'COMMONPLACE_MODEL_URL takes an address without a name, password or query.',
        'A key goes into COMMONPLACE_MODEL_KEY.',
      )
    }
  }
  const name = chosen ?? (kind === 'openai' && url !== undefined ? undefined : USUAL_NAMES[kind])
  if (name === undefined) {
    throw missing(
      `COMMONPLACE_MODEL=${kind} needs the name of a model.`,
      'Set COMMONPLACE_MODEL_NAME to one that the server has.',
    )
  }
  if (apiKey === undefined && kind !== 'ollama' && url === undefined) {
    throw missing(
      `COMMONPLACE_MODEL=${kind} needs a key.`,
      'Set COMMONPLACE_MODEL_KEY to one of your account there.',
    )
  }
  return { kind, url, name, apiKey }
}

const missing = (message: string, hint: string): Failure => new Failure('invalid_input', message, { hint })

/** Without the key. */
export const modelInWords = (model: ModelConfig): string =>
  model.kind === 'off'
    ? 'off'
    : `${model.kind} ${model.name}${model.url === undefined ? '' : ` at ${model.url}`}`
