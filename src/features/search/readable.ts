/** Models that were made for English: every word in another script is the same unknown word to them. */
const ENGLISH_MODELS: readonly string[] = ['use-lite-1']

/** Whether a model can make anything of a text: half its letters at least are of a script that it knows. */
export function isReadable(model: string, text: string): boolean {
  if (!ENGLISH_MODELS.includes(model)) return true
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return letters > 0 && latin * 2 >= letters
}
