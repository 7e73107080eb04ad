import { z } from 'zod'
import { text } from '../../core/text.ts'

/** Most characters of a tag's name. */
export const MAX_NAME = 100
/** Most tags that one call takes. */
const MOST = 50

/** Names of tags, as a tool takes them. */
export const tagNames = z.array(text({ max: MAX_NAME })).max(MOST)
