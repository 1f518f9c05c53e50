const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

export const INSTANT_RULES = 'an instant such as 2027-01-31T12:00:00Z'

/** The store refuses later years in the form that `Date` writes. */
const YEAR_MAX = 9_999

/**
 * An ISO 8601 instant with its offset, in UTC not after YEAR_MAX.
 * @returns null for any other text, and for a day that does not exist in its month, which `Date` would read
 * as a later day
 */
export function instantOf(text: string): Date | null {
  const [, year, month, day] = INSTANT.exec(text) ?? []
  if (year === undefined || Number(day) < 1 || Number(day) > daysOf(Number(year), Number(month))) return null
  const instant = new Date(text)
  return instant.getUTCFullYear() <= YEAR_MAX ? instant : null
}

/** 0 for a month that does not exist. */
function daysOf(year: number, month: number): number {
  return month < 1 || month > 12 ? 0 : new Date(Date.UTC(year, month, 0)).getUTCDate()
}
