import type { BreakerReading } from '../../ports/observe.ts'

/** Readings of several kinds of calls, one for each provider. */
export function joinedBreakers(readings: readonly BreakerReading[]): readonly BreakerReading[] {
  const joined = new Map<string, BreakerReading>()
  for (const { provider, openings, open } of readings) {
    const known = joined.get(provider)
    joined.set(provider, {
      provider,
      openings: openings + (known?.openings ?? 0),
      open: [...(known?.open ?? []), ...open],
    })
  }
  return [...joined.values()]
}
