import type { Captured } from './captured.ts'
import type { Chapter, Transcript } from './transcript.ts'

/** What is known of a video or an episode apart from what is said in it. */
export interface Recording {
  kind: 'video' | 'podcast'
  title: string | null
  /** The channel, or who speaks and hosts. */
  authors: string[]
  site: string | null
  /** BCP 47. */
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  description: string | null
  coverUrl: string | null
  canonicalUrl: string | null
  /** Length. */
  seconds: number | null
  chapters: Chapter[]
}

export const UNKNOWN_RECORDING: Omit<Recording, 'kind'> = {
  title: null,
  authors: [],
  site: null,
  language: null,
  published: null,
  description: null,
  coverUrl: null,
  canonicalUrl: null,
  seconds: null,
  chapters: [],
}

/** A recording with its text, as a source is made of it; without `text` only what is known of it. */
export function capturedRecording(
  recording: Recording,
  text: (Transcript & { method: string }) | undefined,
  warnings: string[] = [],
): Captured {
  const { seconds: _seconds, chapters: _chapters, ...facts } = recording
  return {
    ...facts,
    title: recording.title ?? '',
    method: text?.method ?? 'captions',
    markdown: text?.markdown ?? '',
    plain: text?.plain ?? '',
    html: null,
    words: text?.words ?? 0,
    publisher: null,
    cover: null,
    isbns: [],
    places: text?.places ?? null,
    warnings,
  }
}
