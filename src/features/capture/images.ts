import type sharpModule from 'sharp'
import { Failure } from '../../core/failure.ts'

/** A picture ready to be kept and shown: WebP, upright, without EXIF, place or colour profile. */
export interface PreparedImage {
  bytes: Uint8Array
  mime: 'image/webp'
  /** Pixels. */
  width: number
  height: number
}

export interface PrepareImageOptions {
  /** Widest result in pixels; smaller pictures are not enlarged. Height is held under four times as much. */
  maxWidth: number
}

const LARGEST_FILE = 50 * 2 ** 20
/** 50 megapixels: more than phones take, and 200 MB unpacked. The library's own limit lets 256 megapixels through. */
const MOST_PIXELS = 50e6
const DEADLINE_SECONDS = 10

type Sharp = typeof sharpModule

let loading: Promise<Sharp> | undefined
/** Pictures are done one at a time, so that memory is that of one picture. */
let lane: Promise<unknown> = Promise.resolve()

/**
 * Makes a cover or photo of JPEG, PNG, GIF, WebP, AVIF or TIFF bytes: turned upright, scaled down, all metadata gone. Of
 * an animation the first frame is taken.
 *
 * Fails with `unsupported_type` (SVG, HEIC, anything else), `damaged_file`, `too_large` or `timed_out`.
 */
export function prepareImage(bytes: Uint8Array, options: PrepareImageOptions): Promise<PreparedImage> {
  const run = lane.then(() => prepareNow(bytes, options))
  lane = run.catch(() => undefined)
  return run
}

async function prepareNow(bytes: Uint8Array, { maxWidth }: PrepareImageOptions): Promise<PreparedImage> {
  if (bytes.byteLength > LARGEST_FILE) throw tooLarge()
  refuseUnsupported(bytes)
  const sharp = await loadSharp()
  try {
    const { data, info } = await sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 })
      .autoOrient()
      .resize({ width: maxWidth, height: maxWidth * 4, fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: DEADLINE_SECONDS })
      .webp({ quality: 82 })
      .toBuffer({ resolveWithObject: true })
    return { bytes: new Uint8Array(data), mime: 'image/webp', width: info.width, height: info.height }
  } catch (error) {
    const text = error instanceof Error ? error.message : ''
    if (/pixel limit/iu.test(text)) throw tooLarge(error)
    if (/timeout/iu.test(text)) {
      throw new Failure('timed_out', `The picture took longer than ${DEADLINE_SECONDS} s.`, {
        hint: 'Make it smaller and try again.',
        cause: error,
      })
    }
    throw new Failure('damaged_file', 'The picture cannot be read: it is cut off or broken.', {
      hint: 'Open it in another program, save it again, and try with the new file.',
      cause: error,
    })
  }
}

async function loadSharp(): Promise<Sharp> {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.concurrency(1)
    sharp.cache(false)
    return sharp
  })
  try {
    return await loading
  } catch (error) {
    loading = undefined
    throw new Failure('unavailable', 'Pictures cannot be read on this computer.', {
      hint: 'Install Commonplace again, so that the part for pictures (sharp) fits this computer.',
      cause: error,
    })
  }
}

/**
 * Refuses by the first bytes what is not on the list, before the library sees it: SVG can hold scripts and name other
 * files, and many formats have old decoders.
 */
function refuseUnsupported(bytes: Uint8Array): void {
  const format = formatOf(bytes)
  if (format === 'picture') return
  const [what, hint] = REFUSALS[format]
  throw new Failure('unsupported_type', what, { hint })
}

const REFUSALS: Record<'svg' | 'heic' | 'unknown', [string, string]> = {
  svg: ['SVG drawings are not taken as pictures.', 'Export it as PNG and give that.'],
  heic: [
    'HEIC photos, as iPhones take them, cannot be read here.',
    'Export the photo as JPEG first (on an iPhone: Settings, Camera, Formats, Most Compatible).',
  ],
  unknown: [
    'The file is not a picture that can be read.',
    'JPEG, PNG, WebP, GIF, AVIF and TIFF can be given.',
  ],
}

const SIGNATURES = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a', 'II*\0', 'MM\0*']

function formatOf(bytes: Uint8Array): 'picture' | keyof typeof REFUSALS {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString(
    'latin1',
  )
  if (SIGNATURES.some((signature) => head.startsWith(signature))) return 'picture'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'picture'
  if (head.startsWith('ftyp', 4)) {
    // Brands of the ISO base media format: AV1 pictures can be read, HEVC ones cannot.
    const brands = head.slice(8, 8 + Math.min(bytes[3] ?? 0, 64))
    return /avi[fs]/u.test(brands)
      ? 'picture'
      : /hei[cxms]|hev[cx]|mif1|msf1/u.test(brands)
        ? 'heic'
        : 'unknown'
  }
  return /<svg[\s>]/iu.test(head.replaceAll('\0', '')) ? 'svg' : 'unknown'
}

function tooLarge(cause?: unknown): Failure {
  return new Failure('too_large', 'The picture is larger than 50 megapixels or 50 MB.', {
    hint: 'Make it smaller and try again.',
    cause,
  })
}
