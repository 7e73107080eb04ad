import { describe, expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { readLocalConfig } from './local.ts'
import { modelInWords } from './model.ts'

const modelOf = (env: NodeJS.ProcessEnv) => readLocalConfig(env).model

describe('the language model that is configured', () => {
  it('is none unless one is named', () => {
    expect(modelOf({})).toEqual({ kind: 'off' })
    expect(modelOf({ COMMONPLACE_MODEL: 'off', COMMONPLACE_MODEL_KEY: 'k' })).toEqual({ kind: 'off' })
  })

  it.each(['openai', 'anthropic', 'google'])('needs nothing but a key with %s', (kind) => {
    const model = modelOf({ COMMONPLACE_MODEL: kind, COMMONPLACE_MODEL_KEY: 'planted' })
    expect(model).toMatchObject({
      kind,
      apiKey: 'planted',
      url: undefined,
      name: expect.stringMatching(/\w/),
    })
    expect(modelInWords(model)).not.toContain('planted')
  })

  it('needs no key for a server of its own', () => {
    const own = { COMMONPLACE_MODEL_URL: 'http://192.168.1.5:1234/v1', COMMONPLACE_MODEL_NAME: 'qwen3:8b' }
    expect(modelInWords(modelOf({ COMMONPLACE_MODEL: 'openai', ...own }))).toBe(
      'openai qwen3:8b at http://192.168.1.5:1234/v1',
    )
    expect(modelOf({ COMMONPLACE_MODEL: 'ollama', COMMONPLACE_MODEL_NAME: 'qwen3:8b' })).toMatchObject({
      kind: 'ollama',
      apiKey: undefined,
    })
  })

  it.each<[NodeJS.ProcessEnv]>([
    [{ COMMONPLACE_MODEL: 'gpt' }],
    [{ COMMONPLACE_MODEL: 'openai' }],
    [{ COMMONPLACE_MODEL: 'ollama' }],
    [{ COMMONPLACE_MODEL: 'openai', COMMONPLACE_MODEL_URL: 'http://h/v1' }],
    [{ COMMONPLACE_MODEL: 'openai', COMMONPLACE_MODEL_KEY: 'planted key' }],
    [{ COMMONPLACE_MODEL: 'openai', COMMONPLACE_MODEL_KEY: 'k', COMMONPLACE_MODEL_URL: 'file:///planted' }],
    [{ COMMONPLACE_MODEL: 'google', COMMONPLACE_MODEL_URL: 'https://h/?key=planted' }],
    [{ COMMONPLACE_MODEL_NAME: 'planted' }],
  ])('is refused as %j, with nothing of a key in the message', (env) => {
    let failure: unknown
    try {
      modelOf(env)
    } catch (error) {
      failure = error
    }
    expect(failure).toBeInstanceOf(Failure)
    expect(failure).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/COMMONPLACE_MODEL/),
    })
    expect(JSON.stringify(failure)).not.toContain('planted')
  })
})
