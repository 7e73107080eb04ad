import { answerOnce } from './killable-worker.ts'
import { readEpisode, type GivenFeed } from './podcast-feed.ts'

answerOnce('feed', async (feed: GivenFeed) => readEpisode(feed))
