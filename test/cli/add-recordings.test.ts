import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'
import { json3, serveYouTube, type YouTubeServer } from '../support/youtube-server.ts'

let at: Workspace
let youtube: YouTubeServer

beforeAll(async () => {
  at = openWorkspace()
  const tracks = [{ language: 'en', body: { json3: json3([5, 'Salt is dear.'], [70, 'The ice is thick.']) } }]
  youtube = await serveYouTube({
    aB3_EfGhIjK: { title: 'Winter talk', author: 'The Harbour', seconds: 80, tracks },
    bB3_EfGhIjK: { title: 'A quiet one', author: 'The Harbour', tracks: [] },
  })
  Object.assign(at.env, {
    COMMONPLACE_ALLOW_HOSTS: youtube.host,
    COMMONPLACE_YOUTUBE_URL: youtube.origin,
    COMMONPLACE_YOUTUBE_CLIENTS: 'IOS',
  })
})
afterAll(async () => {
  await at.settled()
  await youtube.close()
  at.remove()
})

const json = async (...args: string[]) => JSON.parse((await at.run([...args, '--json'])).stdout)

it('adds a video, which is read, found and marked with its second', async () => {
  const added = await at.run(['add', 'https://youtu.be/aB3_EfGhIjK?t=9', '--wait'])
  expect(added).toMatchObject({ code: 0 })
  expect(youtube.asked[0]).toBe('IOS')
  const [item] = (await json('list-items')).items
  expect(item).toMatchObject({ title: 'Winter talk', kind: 'video', authors: ['The Harbour'] })
  const read = await json('read-item', item.id)
  expect(read.markdown).toBe('Salt is dear. The ice is thick.\n')
  expect(read.places).toEqual([{ offset: 0, name: '0:05', seconds: 5 }])
  await json('add-highlight', item.id, '--quote', 'the ice is thick')
  const found = await json('search-highlights', '--query', 'ice')
  expect(JSON.stringify(found)).toContain('"timestamp_seconds":70')
  expect(JSON.stringify(found)).toContain('watch?v=aB3_EfGhIjK&t=70s')
})

it('says why a video has no text, and takes its captions as a file', async () => {
  const url = 'https://www.youtube.com/shorts/bB3_EfGhIjK'
  const added = await at.run(['add', url, '--wait'])
  expect(added.code).not.toBe(0)
  expect(added.stdout + added.stderr).toMatch(/no captions/)
  expect(added.stdout + added.stderr).toMatch(/commonplace add talk\.vtt --url/)
  const file = join(at.folder, 'talk.en.srt')
  writeFileSync(file, '1\n00:00:01,000 --> 00:00:02,000\nNow it speaks.\n')
  const given = await at.run(['add', file, '--url', url, '--wait', '--json'])
  const [item] = JSON.parse(given.stdout).items
  expect(item.item).toMatchObject({ title: 'A quiet one', kind: 'video' })
})
