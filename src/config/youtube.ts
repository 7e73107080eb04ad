import { z } from 'zod'
import { YOUTUBE_CLIENTS, type YouTubeAccess } from '../core/outside.ts'

const client = z
  .templateLiteral([z.enum(YOUTUBE_CLIENTS), z.string().regex(/^(?::[\d.]{1,40})?$/)])
  .transform((text) => {
    const [name, version] = text.split(':')
    return { name: z.enum(YOUTUBE_CLIENTS).parse(name), ...(version !== undefined && { version }) }
  })

/** Variables that say how YouTube is asked. */
export const youtubeVariables = {
  COMMONPLACE_YOUTUBE_URL: z
    .url({ protocol: /^https?$/, error: 'has to be an address that begins with https:// or http://' })
    .optional(),
  COMMONPLACE_YOUTUBE_CLIENTS: z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(
      z.array(client, {
        error: `takes names with commas between, of ${YOUTUBE_CLIENTS.join(', ')}, each with :version if need be`,
      }),
    )
    .optional(),
}

const youtubePart = z.object(youtubeVariables)

/** What the environment says of YouTube; undefined where it says nothing. */
export function youtubeOf(given: z.output<typeof youtubePart>): YouTubeAccess | undefined {
  const { COMMONPLACE_YOUTUBE_URL: url, COMMONPLACE_YOUTUBE_CLIENTS: clients } = given
  if (url === undefined && clients === undefined) return undefined
  return {
    ...(url !== undefined && { origin: new URL(url).origin }),
    ...(clients?.length && { clients }),
  }
}
