const LONGEST_MS = 60_000

/**
 * For what must happen before a time-out ends it: runs with ever longer time-outs until `run` says that the
 * machine kept up. A loaded machine needs more than an idle one is made to wait.
 */
export async function atPace(shortestMs: number, run: (ms: number) => Promise<boolean>): Promise<void> {
  for (let ms = shortestMs; !(await run(ms)); ms *= 4) continue
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
