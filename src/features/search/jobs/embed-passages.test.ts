import { describe, expect, it } from 'vitest'
import { conceptEmbedder } from '../../../../test/support/embedder.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { vectors } from '../indexes.ts'
import { countWaiting, embedPassages, queueEmbedding } from './embed-passages.ts'

const job = (signal = new AbortController().signal) => {
  const progress: (number | undefined)[][] = []
  return {
    progressed: progress,
    run: {
      id: 1,
      attempt: 1,
      signal,
      progress: async (done: number, total?: number) => void progress.push([done, total]),
    },
  }
}
/** How many vectors there are of a model, and of others. */
const vectorsOf = async (library: Library, model: string) => {
  const others = await vectors(library.db).ofOtherModels(library.db, model, 1_000)
  const { count } = await library.db
    .selectFrom('code')
    .innerJoin('vector', 'vector.passage_id', 'code.passage_id')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('model', '=', model)
    .executeTakeFirstOrThrow()
  return [count, others.length]
}

describe('embedPassages', () => {
  it('gives every passage a vector, in batches, and says how far it is', async () => {
    const library = await testLibrary({ embedder: conceptEmbedder([['bees']]) })
    for (let i = 0; i < 70; i++) await addTestSource(library, { title: `Bees ${i}` })
    const { run, progressed } = job()
    await embedPassages.run(library, {}, run)
    expect(await countWaiting(library.db)).toBe(0)
    expect(await vectorsOf(library, 'concepts')).toEqual([70, 0])
    expect(progressed).toEqual([
      [64, 70],
      [70, 70],
    ])
  })

  it('keeps what it has done when it is stopped, and goes on from there', async () => {
    const embedder = conceptEmbedder([['bees']])
    const library = await testLibrary({ embedder })
    for (let i = 0; i < 70; i++) await addTestSource(library, { title: `Bees ${i}` })
    const { embed } = embedder
    let batches = 0
    embedder.embed = async (texts) => {
      if (++batches === 2) throw new Error('killed')
      return embed(texts)
    }
    await expect(embedPassages.run(library, {}, job().run)).rejects.toThrow('killed')
    expect(await countWaiting(library.db)).toBe(6)
    let again = 0
    embedder.embed = async (texts) => {
      again += texts.length
      return embed(texts)
    }
    await embedPassages.run(library, {}, job().run)
    expect([again, await countWaiting(library.db)]).toEqual([6, 0])
  })

  it('replaces vectors of another model one by one', async () => {
    const world = { embedder: conceptEmbedder([['bees']], 'old') }
    const library = await testLibrary(world)
    for (let i = 0; i < 3; i++) await addTestSource(library, { title: `Bees ${i}` })
    await embedPassages.run(library, {}, job().run)
    library.outside.embedder = conceptEmbedder([['bees']], 'new')
    await embedPassages.run(library, {}, job().run)
    expect(await vectorsOf(library, 'new')).toEqual([3, 0])
  })

  it('gives no vector to what the model cannot read, and leaves it to another model', async () => {
    const library = await testLibrary({ embedder: conceptEmbedder([['bees']], 'use-lite-1') })
    await addTestSource(library, { title: '日健クリニック' })
    await addTestSource(library, { title: 'Bees' })
    await embedPassages.run(library, {}, job().run)
    expect([await vectorsOf(library, 'use-lite-1'), await countWaiting(library.db)]).toEqual([[1, 0], 0])
    library.outside.embedder = conceptEmbedder([['bees']], 'multilingual')
    await embedPassages.run(library, {}, job().run)
    expect(await vectorsOf(library, 'multilingual')).toEqual([2, 0])
  })

  it('ends quietly where there is no embedder', async () => {
    const library = await testLibrary()
    await addTestSource(library, { title: 'Bees' })
    await embedPassages.run(library, {}, job().run)
    expect(await countWaiting(library.db)).toBe(1)
  })
})

describe('queueEmbedding', () => {
  it('queues the job once, and only where something waits', async () => {
    const library = await testLibrary({ embedder: conceptEmbedder([['bees']]) })
    const queued = () => library.db.selectFrom('job').select('kind').execute()
    await queueEmbedding(library)
    expect(await queued()).toEqual([])
    await addTestSource(library, { title: 'Bees' })
    await library.change(async ({ db }) => void (await db.deleteFrom('job').execute()))
    await queueEmbedding(library)
    await queueEmbedding(library)
    expect(await queued()).toEqual([{ kind: 'embed' }])
  })
})
