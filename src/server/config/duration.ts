const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** @param given a number and its unit, which the form of the setting guarantees */
export function durationMs(given: string): number {
  const unit = given.replace(/^[0-9]+/, '')
  return Number.parseInt(given, 10) * (UNIT_MS[unit] ?? 1)
}
