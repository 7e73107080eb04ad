/** A language tag in its canonical form; null for what is none (`x-default`, `English`). */
export function languageTag(stated: string | undefined): string | null {
  const tag = (stated ?? '')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .replaceAll('_', '-')
  if (!/^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/iu.test(tag) || /^(?:und|zxx|mul)$/iu.test(tag)) return null
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null
  } catch {
    return null
  }
}
