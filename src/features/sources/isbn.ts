/**
 * An ISBN-10 or ISBN-13 as the 13 digits of ISBN-13, or undefined where it is none: hyphens, spaces and a spreadsheet's
 * `="…"` are taken off, the check digit is verified (ISO 2108).
 */
export function isbn13Of(given: string): string | undefined {
  const bare = given.replaceAll(/[\s\-‐-―="']|^ISBN(?:-1[03])?:?/gi, '').toUpperCase()
  if (/^\d{9}[\dX]$/.test(bare))
    return isbn10Holds(bare) ? withCheckDigit(`978${bare.slice(0, 9)}`) : undefined
  if (/^97[89]\d{10}$/.test(bare)) return withCheckDigit(bare.slice(0, 12)) === bare ? bare : undefined
  return undefined
}

function isbn10Holds(isbn: string): boolean {
  const sum = [...isbn].reduce(
    (total, digit, i) => total + (digit === 'X' ? 10 : Number(digit)) * (10 - i),
    0,
  )
  return sum % 11 === 0
}

function withCheckDigit(twelve: string): string {
  const sum = [...twelve].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0)
  return twelve + ((10 - (sum % 10)) % 10)
}
