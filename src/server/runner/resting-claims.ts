/** A claim that can be skipped while there are no rows. */
export interface RestingClaim<A extends readonly unknown[], R> {
  readonly claim: (...input: A) => Promise<R>
  /** Resolves to true when there are rows to claim, due or not; costs less than a claim. */
  readonly isOpen: () => Promise<boolean>
  /** The result of a claim that finds nothing. */
  readonly nothing: R
  readonly isNothing: (found: R) => boolean
}

/** @returns the claim; after a claim that found nothing it first checks whether there are rows at all */
export function restingClaim<A extends readonly unknown[], R>({
  claim,
  isOpen,
  nothing,
  isNothing,
}: RestingClaim<A, R>): (...input: A) => Promise<R> {
  let isResting = true
  return async (...input) => {
    // When the check fails, the claim itself reports the cause.
    if (isResting && !(await isOpen().catch(() => true))) return nothing
    const found = await claim(...input)
    isResting = isNothing(found)
    return found
  }
}
