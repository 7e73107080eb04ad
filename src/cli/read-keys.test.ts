import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readKeys } from './read-keys.ts'

/** Input as a terminal gives it, with a note of how it was set. */
function terminal() {
  const raw: boolean[] = []
  const input = Object.assign(new PassThrough(), {
    isRaw: false,
    setRawMode: (set: boolean) => raw.push(set),
  })
  return { input, raw }
}

async function keysOf(
  chunks: readonly string[],
  { end = true } = {},
): Promise<{ keys: string[]; raw: boolean[] }> {
  const { input, raw } = terminal()
  for (const chunk of chunks) input.write(chunk)
  if (end) input.end()
  const keys: string[] = []
  for await (const key of readKeys(input, new AbortController().signal)) keys.push(key)
  return { keys, raw }
}

describe('keys at a terminal', () => {
  it('come one by one, also those that were pressed ahead, and the terminal is as it was', async () => {
    expect(await keysOf(['1', '23', 's'])).toEqual({ keys: ['1', '2', '3', 's'], raw: [true, false] })
  })

  it.each(['\u0003', '\u0004'])('end at %j', async (key) => {
    expect(await keysOf(['1', key, '2'], { end: false })).toEqual({ keys: ['1'], raw: [true, false] })
  })

  it('leave out what is no character', async () => {
    expect((await keysOf(['\u001b[A', '1'])).keys.filter((key) => key === '1')).toEqual(['1'])
  })

  it('end with an interrupt', async () => {
    const { input, raw } = terminal()
    const controller = new AbortController()
    setImmediate(() => controller.abort())
    for await (const key of readKeys(input, controller.signal)) throw new Error(key)
    expect(raw).toEqual([true, false])
  })
})
