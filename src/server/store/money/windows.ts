import type { Day, Span } from '../../ports/money/money.ts'

const DAY_MS = 86_400_000

/** The window of a span that contains a day, as a text: equal texts mean the same window. Weeks begin on Monday. */
export function windowOf(span: Span, day: Day): string {
  switch (span) {
    case 'daily':
      return day
    case 'weekly':
      return textOf(mondayOf(msOf(day)))
    case 'monthly':
      return day.slice(0, 7)
    case 'lifetime':
      return ''
    default:
      return span satisfies never
  }
}

/** @returns the start of the next window, Unix milliseconds UTC; null for `lifetime` */
export function resetsAtMs(span: Span, day: Day): number | null {
  switch (span) {
    case 'daily':
      return msOf(day) + DAY_MS
    case 'weekly':
      return mondayOf(msOf(day)) + 7 * DAY_MS
    case 'monthly':
      return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)))
    case 'lifetime':
      return null
    default:
      return span satisfies never
  }
}

/** The latest of several days; their texts sort like the days. */
export function latestOf(days: readonly Day[]): Day {
  return days.reduce((latest, day) => (day > latest ? day : latest), '')
}

function msOf(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`)
}

function textOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10)
}

function mondayOf(ms: number): number {
  return ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS
}
