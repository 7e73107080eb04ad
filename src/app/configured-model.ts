import type { ModelConfig } from '../config/model.ts'
import type { LanguageModel } from '../core/outside.ts'

/**
 * The language model that the configuration names, undefined where there is none. What talks to it is loaded with the first
 * question.
 */
export function modelFor(config: ModelConfig): LanguageModel | undefined {
  if (config.kind === 'off') return undefined
  const { kind: provider, url, name, apiKey } = config
  let made: Promise<LanguageModel> | undefined
  const make = async (): Promise<LanguageModel> => {
    const { createLanguageModel } = await import('../outside/models/language-model.ts')
    return createLanguageModel({
      provider,
      name,
      ...(url !== undefined && { url }),
      ...(apiKey !== undefined && { apiKey }),
    })
  }
  return {
    id: `${provider}:${name}`,
    answer: async (question) => (await (made ??= make())).answer(question),
  }
}
