import { EAST_ASIAN_DAYS, wordsOf, type CalendarMatch } from './calendar-words.ts'

/** What stands for the two halves of a day; words that mean something else elsewhere belong to their language. */
const MORNING = new Set([
  'am',
  'a.m',
  'a. m',
  'πμ',
  'π.μ',
  '上午',
  '午前',
  '오전',
  '凌晨',
  '清晨',
  '早上',
  '早晨',
  'öö',
])
const AFTERNOON = new Set(['pm', 'p.m', 'p. m', 'μμ', 'μ.μ', '下午', '午後', '오후', '傍晚', 'ös'])
const HALVES: Record<string, { morning: string; afternoon: string }> = {
  sv: { morning: 'fm', afternoon: 'em' },
  fi: { morning: 'ap', afternoon: 'ip' },
  cs: { morning: 'dop', afternoon: 'odp' },
  sl: { morning: 'dop', afternoon: 'pop' },
  hu: { morning: 'de', afternoon: 'du' },
  uk: { morning: 'дп', afternoon: 'пп' },
  ar: { morning: 'ص', afternoon: 'م' },
  fa: { morning: 'ق.ظ', afternoon: 'ب.ظ' },
  vi: { morning: 'sa', afternoon: 'ch' },
  ms: { morning: 'pg', afternoon: 'ptg' },
  af: { morning: 'vm', afternoon: 'nm' },
}
/** Words around a clock time that say nothing about it. */
const HARMLESS = new Set(
  'at à a um às as alle ore om в во o о la las u ob kl klo kell den der el le il г р на у at στις pukul pada lúc saat h hs hrs uhr t 在 에 de del'.split(
    ' ',
  ),
)

export type HalfOfDay = 'morning' | 'afternoon' | 'noon' | 'none' | 'unknown'

/** The hour of 24, or null where the half of the day and the hour contradict each other. */
export function hourOfDay(hour: number, half: HalfOfDay): number | null {
  if (half === 'noon') return hour >= 1 && hour <= 3 ? hour + 12 : hour
  // Seen from some devices: the half of the day beside an hour of twenty-four.
  if (half === 'morning') return hour > 12 ? null : hour % 12
  if (half === 'afternoon') return hour >= 12 ? hour : hour + 12
  return hour
}

/** Which half of the day the words around the clock say; `unknown` where a word stands there that is not understood. */
export function halfOfDay(lead: string, rest: string, match: CalendarMatch | null): HalfOfDay {
  let around = `${lead} ${rest}`.toLowerCase()
  for (const day of EAST_ASIAN_DAYS) around = around.replace(day, ' ')
  if (/中午/u.test(around)) return 'noon'
  for (const word of AFTERNOON) if (/^\p{Lo}/u.test(word) && around.includes(word)) return 'afternoon'
  for (const word of MORNING) if (/^\p{Lo}/u.test(word) && around.includes(word)) return 'morning'
  around = around
    .replaceAll(/\b([ap])\. ?m\b\.?/g, '$1m')
    .replace(/(?:\p{L}+ ){1,3}(?:standard|summer|daylight|mean|universal) time\b/u, ' ')
    .replace(/\b(?:gmt|utc|z)\b/, ' ')
  const own = HALVES[match?.language ?? '']
  let isKnown = true
  for (const word of wordsOf(around)) {
    if (MORNING.has(word) || own?.morning === word) return 'morning'
    if (AFTERNOON.has(word) || own?.afternoon === word) return 'afternoon'
    if (!HARMLESS.has(word) && !match?.known.has(word) && !match?.joining.has(word)) isKnown = false
  }
  return isKnown ? 'none' : 'unknown'
}
