const LONGEST_MS = 60_000
/** A machine that does not keep up with half of this does nothing at all. */
const PATIENCE_MS = 120_000

/**
 * For what must happen before a time-out ends it: runs with ever longer time-outs until `run` says that the
 * machine kept up. A loaded machine needs more than an idle one is made to wait. Throws when even the longest
 * was too short.
 */
export async function atPace(shortestMs: number, run: (ms: number) => Promise<boolean>): Promise<void> {
  let ms = shortestMs
  for (; ms <= PATIENCE_MS; ms *= 4) if (await run(ms)) return
  throw new Error(`it did not happen within ${ms / 4} ms either`)
}

/**
 * As `atPace`, for what is asserted afterwards: the first finding that is as it should be, or that of the
 * longest time.
 */
export async function foundAtPace<T>(
  shortestMs: number,
  run: (ms: number) => Promise<T>,
  isSo: (found: T) => boolean,
): Promise<T> {
  let found = await run(shortestMs)
  for (let ms = 4 * shortestMs; ms <= LONGEST_MS && !isSo(found); ms *= 4) found = await run(ms)
  return found
}
