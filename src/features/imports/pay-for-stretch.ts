import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import type { Stretch } from './reading-stretches.ts'

/** What the stretch of an import that begins there is paid under: once, whoever reads it and however often it is begun. */
const keyOf = (importId: number, start: number): string => `import ${importId} from ${start}`

/** Pays for a stretch where the library's account counts credits. False where there are not enough. */
export async function payForStretch(
  { outside }: Pick<Library, 'outside'>,
  importId: number,
  { start }: Pick<Stretch, 'start'>,
  amount: number,
): Promise<boolean> {
  const credits = outside.account?.credits
  if (!credits || amount === 0) return true
  try {
    await credits.spend({ amount, what: `reading for import ${importId}`, key: keyOf(importId, start) })
    return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'credits_used_up') return false
    throw error
  }
}

/** Gives back what was paid for a stretch that could not be read; does nothing where it was not paid. */
export async function returnPayment(
  { outside }: Pick<Library, 'outside'>,
  importId: number,
  { start }: Pick<Stretch, 'start'>,
): Promise<void> {
  await outside.account?.credits?.giveBack(keyOf(importId, start))
}
