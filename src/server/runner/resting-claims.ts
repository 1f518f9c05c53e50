/** What a claim found, and when it may rest. */
export interface RestingClaim<A extends readonly unknown[], R> {
  readonly claim: (...input: A) => Promise<R>
  /** Resolves whether there are rows to claim, due or not; costs less than a claim. */
  readonly isOpen: () => Promise<boolean>
  /** What a claim returns that finds nothing. */
  readonly nothing: R
  readonly isNothing: (found: R) => boolean
}

/** @returns the claim, which first looks whether there are rows at all when the claim before found nothing */
export function restingClaim<A extends readonly unknown[], R>({
  claim,
  isOpen,
  nothing,
  isNothing,
}: RestingClaim<A, R>): (...input: A) => Promise<R> {
  let isResting = true
  return async (...input) => {
    // When the look fails, the claim reports why.
    if (isResting && !(await isOpen().catch(() => true))) return nothing
    const found = await claim(...input)
    isResting = isNothing(found)
    return found
  }
}
