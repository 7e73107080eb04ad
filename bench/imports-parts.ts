// Files such as other programs export, of any size, the same each time.

const WORDS =
  'the growing good of world is partly dependent on unhistoric acts and things not so ill with you me owing number lived faithfully hidden life rest in unvisited tombs letter honest river bridge'.split(
    ' ',
  )
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function sentences(seed: number): () => string {
  let state = seed
  const next = (most: number): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) % most
  return () => Array.from({ length: 20 + next(40) }, () => WORDS[next(WORDS.length)]).join(' ')
}

/** `My Clippings.txt` of two hundred books. */
export function kindleClippings(count: number): string {
  const sentence = sentences(7)
  let text = ''
  for (let i = 0; i < count; i++) {
    const place = Math.floor(i / 200) * 40 + 10
    const at = new Date(Date.UTC(2020, 0, 1) + i * 7_200_000)
    const day = at.toLocaleDateString('en-US', {
      timeZone: 'UTC',
      month: 'long',
      day: 'numeric',
      year: 'numeric',
    })
    const clock = at.toLocaleTimeString('en-US', { timeZone: 'UTC' })
    text += `Book number ${i % 200} (Author ${i % 50})\r\n- Your Highlight on page ${place} | Location ${place}-${place + 2} | Added on ${DAYS[at.getUTCDay()]}, ${day} ${clock}\r\n\r\n${sentence()} ${i}\r\n==========\r\n`
  }
  return text
}

/** Readwise's CSV of five hundred books; every tenth highlight has a note, every fifth a tag. */
export function readwiseCsv(count: number): string {
  const sentence = sentences(11)
  let text =
    'Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags\r\n'
  for (let i = 0; i < count; i++) {
    const at = new Date(Date.UTC(2020, 0, 1) + i * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    text += `"${sentence()} ${i}",Book ${i % 500},Author ${i % 50},,${i % 10 === 0 ? `a note ${i}` : ''},yellow,${i % 5 === 0 ? `tag${i % 7}` : ''},location,${i},${at}+00:00,\r\n`
  }
  return text
}
