import { deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { prepareImage } from './images.ts'

/** A picture whose left half is red and whose right half is blue. */
function picture(width: number, height: number): Sharp {
  const half = (colour: string) => ({
    create: { width: Math.floor(width / 2), height, channels: 3 as const, background: colour },
  })
  return sharp({ create: { width, height, channels: 3, background: '#ff0000' } }).composite([
    { input: half('#0000ff'), left: Math.ceil(width / 2), top: 0 },
  ])
}

/** A PNG that claims to be so many pixels wide and high, with nothing in it. */
function forgedPng(width: number, height: number): Uint8Array {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(1024))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function crc32(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

describe('prepareImage', () => {
  it('makes WebP of at most the width, and enlarges nothing', async () => {
    const png = await picture(900, 300).png().toBuffer()
    const made = await prepareImage(png, { maxWidth: 600 })
    expect(made).toMatchObject({ mime: 'image/webp', width: 600, height: 200 })
    expect(await sharp(made.bytes).metadata()).toMatchObject({ format: 'webp', width: 600, height: 200 })
    expect(await prepareImage(png, { maxWidth: 2000 })).toMatchObject({ width: 900, height: 300 })
  })

  it('lets no EXIF and no place through', async () => {
    const jpeg = await picture(80, 40)
      .withExif({
        IFD0: { Artist: 'Jane Roe', Make: 'Phone' },
        IFD3: {
          GPSLatitudeRef: 'N',
          GPSLatitude: '48/1 51/1 30/1',
          GPSLongitudeRef: 'E',
          GPSLongitude: '2/1 17/1 40/1',
        },
      })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>Jane Roe</a></x:xmpmeta>')
      .jpeg()
      .toBuffer()
    expect((await sharp(jpeg).metadata()).exif?.includes('Jane Roe')).toBe(true)
    const made = await prepareImage(jpeg, { maxWidth: 600 })
    const metadata = await sharp(made.bytes).metadata()
    expect(metadata.exif).toBeUndefined()
    expect(metadata.xmp).toBeUndefined()
    expect(Buffer.from(made.bytes).includes('Jane Roe')).toBe(false)
  })

  it('turns a photo upright', async () => {
    const jpeg = await picture(80, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const made = await prepareImage(jpeg, { maxWidth: 600 })
    expect(made).toMatchObject({ width: 40, height: 80 })
    const [red = 0, , blue = 255] = await sharp(made.bytes)
      .extract({ left: 20, top: 5, width: 1, height: 1 })
      .raw()
      .toBuffer()
    expect(red).toBeGreaterThan(blue)
  })

  it('takes the first frame of an animation', async () => {
    const frames = await Promise.all(
      ['#00ff00', '#ff0000'].map((background) =>
        sharp({ create: { width: 20, height: 20, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    )
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    expect((await sharp(gif).metadata()).pages).toBe(2)
    const made = await prepareImage(gif, { maxWidth: 600 })
    expect(made).toMatchObject({ width: 20, height: 20 })
    const [red = 255, green = 0] = await sharp(made.bytes).raw().toBuffer()
    expect(green).toBeGreaterThan(red)
  })

  it('reads AVIF', async () => {
    const avif = await picture(64, 64).avif().toBuffer()
    expect(await prepareImage(avif, { maxWidth: 32 })).toMatchObject({ width: 32, height: 32 })
  })

  const heic = Buffer.concat([
    Buffer.from('00000018', 'hex'),
    Buffer.from('ftypheic\0\0\0\0mif1heic'),
    Buffer.alloc(64),
  ])
  const utf16 = Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from('<svg xmlns="x"/>', 'utf16le')])
  it.each([
    [
      'unsupported_type',
      'PNG',
      'a drawing',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
    [
      'unsupported_type',
      'PNG',
      'a drawing with a preamble',
      Buffer.from('\ufeff<?xml version="1.0"?><!-- x --><svg width="9" height="9"/>'),
    ],
    ['unsupported_type', 'PNG', 'a drawing in UTF-16', utf16],
    ['unsupported_type', 'JPEG', 'a photo of an iPhone', heic],
    ['unsupported_type', 'JPEG', 'a PDF', Buffer.from('%PDF-1.7')],
    ['unsupported_type', 'JPEG', 'nothing', Buffer.alloc(0)],
    ['too_large', 'smaller', '256 megapixels', forgedPng(16_000, 16_000)],
    ['too_large', 'smaller', '3,600 megapixels', forgedPng(60_000, 60_000)],
    ['damaged_file', 'again', 'a PNG with a header and no picture', forgedPng(400, 400)],
  ])('fails with %s and a hint (%s) on %s', async (code, hint, _what, bytes) => {
    await expect(prepareImage(bytes, { maxWidth: 600 })).rejects.toMatchObject({
      name: 'Failure',
      code,
      hint: expect.stringContaining(hint),
    })
  })

  it('goes on after a failure', async () => {
    const results = await Promise.allSettled([
      prepareImage(Buffer.from('x'), { maxWidth: 10 }),
      prepareImage(await picture(20, 20).png().toBuffer(), { maxWidth: 10 }),
    ])
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled'])
  })
})
