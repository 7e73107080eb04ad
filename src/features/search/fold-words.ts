/**
 * Words as the index and every query spell them: one function for both, so that they cannot differ. Compatibility forms
 * (ligatures, full width), case (ß is ss), accents, and letters that people type without their stroke are folded; scripts
 * that put no spaces between words are cut into overlapping pairs of characters (with Hangul, whose particles cling to
 * their words). A pair never mixes scripts with others, and the last character of a run also stands alone, so that a single
 * character is found as the beginning of a pair or as such a last one.
 */
export interface FoldedWord {
  word: string
  /** UTF-16 offsets in the text as it was given. */
  start: number
  end: number
}

/** What a character is to the segmentation. */
type CharacterKind = 'break' | 'skip' | 'word' | 'spaceless' | 'mark' | 'symbol'
interface Character {
  kind: CharacterKind
  folded: string
}

/** Accents on letters, Hebrew points, Arabic vowel signs and stretching: not part of a word's identity in a search. */
const STRIPPED: readonly (readonly [number, number])[] = [
  [0x0300, 0x036f],
  [0x0591, 0x05bd],
  [0x05bf, 0x05bf],
  [0x05c1, 0x05c2],
  [0x05c4, 0x05c5],
  [0x05c7, 0x05c7],
  [0x0610, 0x061a],
  [0x0640, 0x0640],
  [0x064b, 0x065f],
  [0x0670, 0x0670],
  [0x06d6, 0x06dc],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
]
const isStripped = (char: string): boolean => {
  const code = char.codePointAt(0)!
  return STRIPPED.some(([first, last]) => code >= first && code <= last)
}
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Yi}\p{Script=Bopomofo}\u30fc]/u
const WORD = /[\p{L}\p{N}\p{Co}]/u
const MARK = /\p{M}/u
const SYMBOL = /\p{Extended_Pictographic}/u
const IGNORED = /\p{Default_Ignorable_Code_Point}/u
const ZERO_WIDTH_SPACE = '\u200b'

/** Letters that Unicode does not take apart, as they are typed where the keyboard lacks them. */
const PLAIN_LETTERS: Record<string, string> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ς: 'σ',
}

const known: (Character | undefined)[] = Array.from({ length: 0x3000 })
const knownBeyond = new Map<number, Character>()

function characterOf(code: number): Character {
  if (code < 0x3000) return (known[code] ??= classify(String.fromCodePoint(code)))
  let character = knownBeyond.get(code)
  if (!character) knownBeyond.set(code, (character = classify(String.fromCodePoint(code))))
  return character
}

function classify(char: string): Character {
  if (char === ZERO_WIDTH_SPACE) return { kind: 'break', folded: '' }
  if (IGNORED.test(char) || isStripped(char)) return { kind: 'skip', folded: '' }
  if (SPACELESS.test(char)) return { kind: MARK.test(char) ? 'mark' : 'spaceless', folded: char }
  if (WORD.test(char) || MARK.test(char)) return { kind: 'word', folded: foldLetter(char) }
  if (SYMBOL.test(char)) return { kind: 'symbol', folded: char }
  return { kind: 'break', folded: '' }
}

function foldLetter(char: string): string {
  // Twice, since a capital may fall apart into a letter and a mark.
  const letters = [...lowerPlain(lowerPlain(char))]
  return letters
    .map((letter) => PLAIN_LETTERS[letter] ?? letter)
    .join('')
    .normalize('NFC')
}

/** Upper case first, so that ß meets SS. */
const lowerPlain = (value: string): string =>
  [...value.normalize('NFKD')]
    .filter((char) => !isStripped(char))
    .join('')
    .toUpperCase()
    .toLowerCase()

/** Whether a word is of a script that is cut into pairs, of which a single character is the beginning. */
export const isSpaceless = (word: string): boolean => SPACELESS.test(word)

/** The words of a text in order, with one space between them. */
export function foldWords(text: string): string {
  const plain = withoutPunctuation(text)
  if (isAscii(plain)) {
    return plain
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, ' ')
      .trim()
  }
  let folded = ''
  segment(text.normalize('NFKC'), (word) => (folded += folded === '' ? word : ` ${word}`))
  return folded
}

/** A text as the index takes it: the words of `foldWords`, but for ASCII, which the index folds and parts the same way. */
export function indexedWords(text: string): string {
  const plain = withoutPunctuation(text)
  return isAscii(plain) ? plain : foldWords(text)
}

// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** Curly quotes, dashes and the like are what makes most English text more than ASCII; none of them is part of a word. */
const withoutPunctuation = (text: string): string =>
  text.replaceAll(/[\u00a0\u2010-\u2027\u2030-\u205e]/g, ' ')

/** The words of a text, each with the place where it stands. */
export function locateWords(text: string): FoldedWord[] {
  const words: FoldedWord[] = []
  const normal = text.normalize('NFKC')
  if (normal === text) {
    segment(text, (word, start, end) => words.push({ word, start, end }))
    return words
  }
  const { normalised, starts, ends } = normaliseWithPlaces(text)
  segment(normalised, (word, start, end) => {
    words.push({ word, start: starts[start] ?? text.length, end: ends[end - 1] ?? text.length })
  })
  return words
}

/** What normalises together: letters of Hangul, a character with its marks, those of half-width Katakana among them. */
const UNIT =
  /[\uac00-\ud7a3]?[\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]+[\p{M}\uff9e\uff9f]*|\P{M}?[\p{M}\uff9e\uff9f]*/gsu

function normaliseWithPlaces(text: string): { normalised: string; starts: number[]; ends: number[] } {
  let normalised = ''
  const starts: number[] = []
  const ends: number[] = []
  for (const { 0: unit, index } of text.matchAll(UNIT)) {
    const form = unit.normalize('NFKC')
    for (let i = 0; i < form.length; i++) {
      starts.push(index)
      ends.push(index + unit.length)
    }
    normalised += form
  }
  return { normalised, starts, ends }
}

/** Walks over a text in NFKC and names each word with its UTF-16 offsets. */
function segment(text: string, emit: (word: string, start: number, end: number) => void): void {
  let word = ''
  let wordStart = 0
  let wordEnd = 0
  let run: FoldedWord[] = []
  const endWord = () => {
    if (word !== '') emit(word, wordStart, wordEnd)
    word = ''
  }
  const endRun = () => {
    for (let i = 0; i + 1 < run.length; i++) {
      emit(run[i]!.word + run[i + 1]!.word, run[i]!.start, run[i + 1]!.end)
    }
    const last = run.at(-1)
    if (last) {
      emit(last.word, last.start, last.end)
      run = []
    }
  }
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at)!
    const end = at + (code > 0xffff ? 2 : 1)
    const { kind, folded } = characterOf(code)
    if (kind === 'word') {
      endRun()
      if (word === '') wordStart = at
      word += folded
      wordEnd = end
    } else if (kind === 'spaceless') {
      endWord()
      run.push({ word: folded, start: at, end })
    } else if (kind === 'mark' && run.length > 0) {
      const last = run.at(-1)!
      last.word += folded
      last.end = end
    } else if (kind !== 'skip' && kind !== 'mark') {
      endWord()
      endRun()
      if (kind === 'symbol') emit(folded, at, end)
    }
    at = end
  }
  endWord()
  endRun()
}
