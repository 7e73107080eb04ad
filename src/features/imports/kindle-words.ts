/** Beginnings of the words by which Kindle, in its languages, says what a clipping is and where it stands. */
const words = (stems: string): RegExp => new RegExp(`(?<!\\p{L})(?:${stems})`, 'u')
/** In scripts without spaces a word stands anywhere. */
const unspaced = (stems: string): RegExp => new RegExp(stems, 'u')

const BOOKMARK = [
  words(
    'bookmark|lesezeichen|marcador|marcapáginas|signet|marque-?page|segnalibro|bladwijzer|закладк|zakładk|yer i[mş]|záložk|kirjanmerk|könyvjelz|bokmärk|bokmerk|bogmærk|semn de carte|σελιδοδ|punt de llibre|bókamerk|penanda|dấu trang|बुकमार्क|புத்தகக்குறி',
  ),
  unspaced('ブックマーク|しおり|书签|書籤|북마크|책갈피'),
]
const NOTE = [
  words(
    'not(?:e|a|iz|iţ|iț|u)|anmerkung|opmerking|aantekening|заметк|примечан|нотатк|poznám|notat|muistiinpan|jegyzet|anteckning|σημεί|catatan|ghi chú|नोट|குறிப்பு',
  ),
  unspaced('メモ|ノート|笔记|筆記|注释|註記|批注|메모|노트'),
]
const HIGHLIGHT = [
  words(
    'highlight|markierung|markering|marcering|subrayad|resaltad|destacad|surlign|evidenziaz|sottolinea|destaque|realce|выдел|отрывок|zaznacz|podkreśl|vurgu|zvýraz|korost|kiemel|eviden[țt]|uthev|fremhæv|överstryk|маркир|виділен|sorotan|tô sáng|हाइलाइट|yfirstrik|þú merktir',
  ),
  unspaced('ハイライト|标注|標註|標注|标记|標記|划线|畫線|하이라이트|강조'),
]
/** An article of a newspaper kept as a whole. */
const CLIP = [
  words('clip|ausschnitt|recorte|extrait|ritaglio|knipsel|вырезк'),
  unspaced('クリップ|剪贴|剪貼|클리핑'),
]

const PAGE = [
  words(
    'page|pag\\.|página|pagina|pàgina|seite|sida|side|sivu|stron|stran|strán|sayfa|страниц|стр\\.|сторін|σελίδα|oldal|pagină|puslap|lehekül|lk\\.|trang|halaman|orri|पृष्ठ|பக்கம்|صفحة|עמוד|síð',
  ),
  unspaced('ページ|頁|页|페이지|쪽|หน้า'),
]
const LOCATION = [
  words(
    'loc|position|posici|posiç|posizion|emplacement|empl\\.|lokat|lokal|plats|plassering|placering|sijain|pozyc|pozic|poziț|konum|yer |местополож|позици|розташ|helyzet|hely|θέση|vị trí|posisi|lokasi|ubicaci|स्थान|இடம்|staðsetning|položaj|الموقع|מיקום|kokapen',
  ),
  unspaced('位置|위치|ตำแหน่ง'),
]

/** In lower case; the apostrophe that French devices write counts as a letter elsewhere. */
const folded = (line: string): string => line.normalize('NFKC').replaceAll('ʼ', "'").toLowerCase()

export type ClippingKind = 'highlight' | 'note' | 'bookmark'

/** What the first words of a clipping's second line call it; undefined where the language is not known. */
export function namedKind(line: string): ClippingKind | undefined {
  const text = folded(line)
  const places: [ClippingKind, number][] = [
    ['bookmark', firstOf(text, BOOKMARK)],
    ['note', firstOf(text, NOTE)],
    ['highlight', Math.min(firstOf(text, HIGHLIGHT), firstOf(text, CLIP))],
  ]
  const [first] = places.filter(([, at]) => at !== Infinity).toSorted(([, a], [, b]) => a - b)
  return first?.[0]
}

function firstOf(text: string, patterns: readonly RegExp[]): number {
  return Math.min(...patterns.map((pattern) => pattern.exec(text)?.index ?? Infinity))
}

export interface KindleRange {
  unit: 'page' | 'location' | 'unknown'
  start: number
  end: number
}

export interface KindlePlace {
  /** As printed: `12`, `xii-xiii`. */
  page: string | null
  location: { start: number; end: number } | null
  /** What places are compared by; null where there is no number. */
  range: KindleRange | null
  /** The words themselves, where it is not known whether they count pages or locations. */
  label: string | null
}

const NUMBERS = /#?(\d{1,9})(?:\s?[-–—‐‑~〜]\s?#?(\d{1,9}))?/g

/** Reads `page 12 | location 170-172`, `第 41 页（位置 #628-630）`, `Loc. 145-46`, `page xii-xiii` in any language. */
export function readPlace(line: string): KindlePlace {
  const text = folded(line)
  const numbers = [...text.matchAll(NUMBERS)].map((match) => ({
    at: match.index,
    ...rangeOf(match[1]!, match[2]),
  }))
  const pageWord = firstMatch(text, PAGE)
  const locationWord = firstMatch(text, LOCATION)
  const [one, other] = numbers
  let page: string | null = null
  let location: { start: number; end: number } | null = null
  let label: string | null = null
  if (one && other) {
    const isPageFirst =
      pageWord === undefined || locationWord === undefined || pageWord.start < locationWord.start
    const [pageNumbers, locationNumbers] = isPageFirst ? [one, other] : [other, one]
    page = printed(pageNumbers)
    location = { start: locationNumbers.start, end: locationNumbers.end }
  } else if (one) {
    const toPage = distance(pageWord, one.at)
    const toLocation = distance(locationWord, one.at)
    if (toPage < toLocation) page = printed(one)
    else if (toLocation < Infinity) location = { start: one.start, end: one.end }
    else label = line.trim()
  }
  page ??= namedPage(text, pageWord)
  return { page, location, label, range: comparable(page, location, one) }
}

function comparable(
  page: string | null,
  location: { start: number; end: number } | null,
  one: { start: number; end: number } | undefined,
): KindleRange | null {
  if (location) return { unit: 'location', ...location }
  if (page !== null) {
    const [, start, end = start] = /^(\d+)(?:-(\d+))?$/.exec(page) ?? []
    return start === undefined ? null : { unit: 'page', start: Number(start), end: Number(end) }
  }
  return one ? { unit: 'unknown', start: one.start, end: one.end } : null
}

/** `145-46` is short for 145 to 146, and `1298-02` for 1298 to 1302. */
function rangeOf(start: string, end: string | undefined): { start: number; end: number } {
  const from = Number(start)
  if (end === undefined) return { start: from, end: from }
  let to = Number(end)
  if (to < from && end.length < start.length) {
    to = Number(start.slice(0, -end.length) + end)
    if (to < from) to += 10 ** end.length
  }
  return to < from ? { start: to, end: from } : { start: from, end: to }
}

const printed = ({ start, end }: { start: number; end: number }): string =>
  start === end ? String(start) : `${start}-${end}`

/** Whether a text has a word for a page or a location. */
export function speaksOfPlace(line: string): boolean {
  const text = folded(line)
  return firstMatch(text, PAGE) !== undefined || firstMatch(text, LOCATION) !== undefined
}

interface Word {
  start: number
  end: number
}

function firstMatch(text: string, patterns: readonly RegExp[]): Word | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(text)
    if (match) return { start: match.index, end: match.index + match[0].length }
  }
  return undefined
}

const distance = (word: Word | undefined, at: number): number => (word ? Math.abs(word.start - at) : Infinity)

/** A page that has no digits: `xii`, `xii-xiii`, `A`. */
function namedPage(text: string, word: Word | undefined): string | null {
  if (!word) return null
  const rest = text.slice(word.end).replace(/^[\p{L}\p{M}]*\.?/u, '')
  return (
    /^\s*([ivxlcdm]+(?:\s?-\s?[ivxlcdm]+)?|[a-z])(?=$|[\s|,(（])/u.exec(rest)?.[1]?.replaceAll(' ', '') ??
    null
  )
}

/** A place as one line of text, such as `location 93`, as a locator. */
export function locatorOf(place: KindlePlace): { page?: string; location?: string; label?: string } | null {
  const { page, location, label } = place
  if (page === null && location === null && label === null) return null
  return {
    ...(page !== null && { page }),
    ...(location !== null && { location: printed(location) }),
    ...(label !== null && { label }),
  }
}

const LIMIT_WORD =
  /limit|límite|limite|limiet|лимит|ліміт|предел|limiti|sınır|raja|gräns|grense|grænse|上限|限制|한도|제한|limită|όριο|سقف|सीमा/iu

/**
 * Kindle's own words where the publisher allows no more: `all` where nothing else stands there, and the words before them
 * where it cut the text. Null where the text is the reader's.
 */
export function clippingLimit(body: string): { kept: string } | null {
  const notice = /[<〈＜]([^<>〈〉＜＞\n]{8,200})[>〉＞]\s*$/u.exec(body)
  if (!notice || /[=/"]/.test(notice[1]!)) return null
  const isSentence = notice[1]!.trim().split(/\s+/).length >= 5 || /[\p{Lo}]{8}/u.test(notice[1]!)
  const kept = body.slice(0, notice.index).trim()
  return isSentence && (LIMIT_WORD.test(notice[1]!) || (kept === '' && /^\p{L}/u.test(notice[1]!)))
    ? { kept }
    : null
}
