import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A video as the stand-in of YouTube shows it. */
export interface ShownVideo {
  title?: string
  author?: string
  seconds?: number
  description?: string
  published?: string
  /** What `playabilityStatus` says; `OK` unless said. */
  status?: { status: string; reason?: string }
  live?: boolean
  tracks?: ShownTrack[]
  /** What a player gets instead, by its name: an HTTP status, or a body. */
  instead?: Partial<Record<string, number | string>>
  /** Whether oEmbed knows it; yes unless said. */
  oembed?: boolean
}

export interface ShownTrack {
  language: string
  automatic?: boolean
  /** The body by form (`json3`, or `''` for none asked for); empty where YouTube keeps it back. */
  body: Partial<Record<string, string>>
  /** Players whose address gives nothing. */
  gatedFor?: string[]
}

export interface YouTubeServer {
  origin: string
  host: string
  /** What was asked for: a player's name, `captions`, `oembed`. */
  asked: string[]
  close(): Promise<void>
}

/** A server that speaks as YouTube's player, caption and oEmbed addresses do, as far as we ask. */
export async function serveYouTube(videos: Record<string, ShownVideo>): Promise<YouTubeServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void answer(request, response)
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin)
    const send = (status: number, body: string, type = 'application/json') => {
      response.writeHead(status, { 'content-type': `${type}; charset=utf-8` })
      response.end(body)
    }
    if (url.pathname === '/youtubei/v1/player' && request.method === 'POST') {
      let body = ''
      for await (const part of request) body += String(part)
      const { context, videoId } = JSON.parse(body) as {
        context: { client: { clientName: string } }
        videoId: string
      }
      const { clientName } = context.client
      asked.push(clientName)
      const video = videos[videoId]
      const instead = video?.instead?.[clientName]
      if (typeof instead === 'number')
        return send(instead, '{"error":{"code":400,"status":"FAILED_PRECONDITION"}}')
      if (instead !== undefined) return send(200, instead)
      return send(200, JSON.stringify(video ? playerAnswer(videoId, clientName, video) : NO_VIDEO))
    }
    if (url.pathname === '/api/timedtext') {
      asked.push('captions')
      const video = videos[url.searchParams.get('v') ?? '']
      const track = video?.tracks?.[Number(url.searchParams.get('n'))]
      const isGated = track?.gatedFor?.includes(url.searchParams.get('for') ?? '')
      return send(200, (!isGated && track?.body[url.searchParams.get('fmt') ?? '']) || '', 'text/plain')
    }
    if (url.pathname === '/oembed') {
      asked.push('oembed')
      const video = videos[new URL(url.searchParams.get('url') ?? origin).searchParams.get('v') ?? '']
      if (!video || video.oembed === false) return send(404, 'Not Found')
      const { title, author } = video
      return send(
        200,
        JSON.stringify({ type: 'video', title, author_name: author, thumbnail_url: `${origin}/t.jpg` }),
      )
    }
    send(404, '')
  }

  function playerAnswer(videoId: string, client: string, video: ShownVideo): unknown {
    const { title, author, seconds, description, published, status = { status: 'OK' }, live, tracks } = video
    const isShown = status.status === 'OK' || status.status === 'LIVE_STREAM_OFFLINE'
    return {
      responseContext: {},
      playabilityStatus: { ...status, playableInEmbed: true },
      ...(isShown && {
        videoDetails: {
          videoId,
          title,
          author,
          ...(seconds !== undefined && { lengthSeconds: String(seconds) }),
          shortDescription: description,
          isLiveContent: Boolean(live),
          ...(live && { isLive: true }),
          thumbnail: {
            thumbnails: [
              { url: `${origin}/small.jpg`, width: 120 },
              { url: `${origin}/big.jpg`, width: 1280 },
            ],
          },
        },
      }),
      ...(client === 'WEB' &&
        published !== undefined && {
          microformat: { playerMicroformatRenderer: { publishDate: published, ownerChannelName: author } },
        }),
      ...(isShown &&
        tracks && {
          captions: {
            playerCaptionsTracklistRenderer: {
              captionTracks: tracks.map(({ language, automatic }, n) => ({
                baseUrl: `${origin}/api/timedtext?v=${videoId}&n=${n}&for=${client}&fmt=srv1`,
                name: { runs: [{ text: language }] },
                vssId: `${automatic ? 'a' : ''}.${language}`,
                languageCode: language,
                ...(automatic && { kind: 'asr' }),
                isTranslatable: true,
              })),
              audioTracks: [{ captionTrackIndices: tracks.map((_track, n) => n) }],
              defaultAudioTrackIndex: 0,
            },
          },
        }),
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `http://${host}`
  return {
    origin,
    host,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const NO_VIDEO = { playabilityStatus: { status: 'ERROR', reason: 'This video is unavailable' } }

/** Captions in the form that YouTube calls json3: seconds and words. */
export const json3 = (...lines: [number, string][]): string =>
  JSON.stringify({
    wireMagic: 'pb3',
    events: lines.map(([seconds, text]) => ({
      tStartMs: seconds * 1000,
      dDurationMs: 2000,
      segs: [{ utf8: text }],
    })),
  })
