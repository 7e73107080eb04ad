const MAX_AUTHORS = 50
const MAX_LENGTH = 100
const SUFFIX = /^(?:jr|sr|md|phd|ph\.d|m\.d|dphil|msc|esq|i{2,3}|iv)\.?$/i
const ROLE =
  /\b(?:reporter|editor|writer|correspondent|contributor|columnist|photographer|fellow|professor|director|staff|team leader|producer|analyst)s?$/i
const NOBODY =
  /^(?:admin(?:istrator)?|author|authors|editor|user|unknown|anonymous|webmaster|root|guest|by|posted by)$/i

/**
 * Names of people from bylines: `By Ann Roe, Ben Poe and Cem Doe` gives three. Addresses, roles, template rests and the
 * site's own name (unless it is all there is) are left out.
 */
export function authorsFrom(bylines: readonly string[], site: string | null): string[] {
  const names = new Map<string, string>()
  for (const byline of bylines.slice(0, MAX_AUTHORS)) {
    for (const name of splitByline(byline)) {
      const key = name.toLowerCase()
      if (!names.has(key) && names.size < MAX_AUTHORS) names.set(key, name)
    }
  }
  const found = [...names.values()]
  const people = found.filter((name) => name.toLowerCase() !== site?.toLowerCase())
  return people.length > 0 ? people : found
}

function splitByline(byline: string): string[] {
  if (byline.length > 1000) return []
  const text = byline
    .replace(/\(?\bhttps?:\/\/\S+/g, '')
    .replace(/\S+@\S+\.\S+/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:(?:written|posted|words|story|text) )?(?:by|von|par|por)[:\s]+/i, '')
  const parts = text.split(/\s*(?:,|;|\||\/|\s&\s|\s(?:and|und|et|y|e|og|och|en)\s)\s*/i)
  const names: string[] = []
  for (const part of parts.map((name) =>
    name.replace(/^(?:and|by)\s+|[\s,.–—-]+$/gi, (end) => (end === '.' ? '.' : '')).trim(),
  )) {
    if (SUFFIX.test(part) && names.length > 0) names[names.length - 1] += `, ${part}`
    else if (isName(part) && !(names.length > 0 && ROLE.test(part))) names.push(part)
  }
  return names
}

function isName(text: string): boolean {
  return (
    text.length > 1 &&
    text.length <= MAX_LENGTH &&
    /\p{L}{2}|\p{Script=Han}/u.test(text) &&
    !NOBODY.test(text) &&
    !/[{}<>=]/.test(text)
  )
}
