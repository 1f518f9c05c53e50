import Type, { type Static } from 'typebox'
import { ACTIVITY_DAYS_DEFAULT, ACTIVITY_DAYS_MAX, ACTIVITY_PAGE_DEFAULT } from './money-limits.ts'

/** Rows of a page of activity. Decision. */
export const ACTIVITY_PAGE_MAX = 1_000
/** Rows of activity that a request may skip. Decision. */
export const ACTIVITY_OFFSET_MAX = 1_000_000

const DAY_MS = 86_400_000
const DATE = '^\\d{4}-\\d{2}-\\d{2}$'

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: DATE, title: 'a date such as 2027-01-31', description }))

export const ListActivityQuery = Type.Object({
  from: day(`First day, UTC; by default, the range covers ${ACTIVITY_DAYS_DEFAULT} days.`),
  to: day(`Last day, UTC; defaults to today. The range covers at most ${ACTIVITY_DAYS_MAX} days.`),
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'UUID or slug of a workspace; defaults to all workspaces of the organization.',
    }),
  ),
  key_hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', title: '64 hexadecimal digits' })),
  model: Type.Optional(
    Type.String({
      pattern: '^[^\\u0000]+$',
      title: 'the id of a model',
      description: 'Id of a model; returns only its calls.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: ACTIVITY_PAGE_MAX, default: ACTIVITY_PAGE_DEFAULT }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: ACTIVITY_OFFSET_MAX, default: 0 })),
})

const Count = Type.Integer({ minimum: 0 })

export const ActivityRow = Type.Object({
  date: Type.String({ format: 'date', description: 'UTC day to whose budget the calls were charged.' }),
  workspace_id: Type.String({ format: 'uuid' }),
  key_hash: Type.String(),
  model: Type.String(),
  requests: Count,
  tokens: Type.Integer({ minimum: 0, description: 'Number of prompt tokens.' }),
  output_tokens: Type.Integer({ minimum: 0, description: 'Output tokens, including reasoning.' }),
  cached_tokens: Type.Integer({ minimum: 0, description: "Prompt tokens read from a provider's cache." }),
  milliseconds: Count,
  usage: Type.Number({ description: 'USD.' }),
  byok_usage: Type.Number({ description: "USD spent with the workspace's own provider keys." }),
  forfeited: Type.Number({
    description:
      'USD charged for calls whose process died before their cost was known; Sluice charges their maximum cost.',
  }),
})
export type ActivityRow = Static<typeof ActivityRow>

export const ActivityAnswer = Type.Object({
  data: Type.Array(ActivityRow),
  total_count: Type.Integer({ minimum: 0, description: 'Number of rows that match, on all pages.' }),
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date' }),
})

/** The issue of the days in a query; null when they are valid. */
export function faultOfDays({
  from,
  to,
}: {
  readonly from?: string
  readonly to?: string
}): { readonly path: string; readonly expected: string } | null {
  for (const [name, text] of [
    ['from', from],
    ['to', to],
  ] as const)
    if (text !== undefined && !isDay(text))
      return { path: `/${name}`, expected: 'a calendar date such as 2027-01-31' }
  if (from === undefined || to === undefined) return null
  if (from > to) return { path: '/to', expected: 'a day not before `from`' }
  return (Date.parse(to) - Date.parse(from)) / DAY_MS < ACTIVITY_DAYS_MAX
    ? null
    : { path: '/to', expected: `at most ${ACTIVITY_DAYS_MAX} days` }
}

/**
 * Whether a text is a day. `Date` reads the 31st of a short month as the 1st of the next, and date arithmetic
 * fails near the ends of `Date`'s range.
 */
export function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`)
  return (
    new RegExp(DATE).test(text) &&
    !Number.isNaN(at) &&
    new Date(at).toISOString().startsWith(text) &&
    text >= '1970' &&
    text < '9999'
  )
}
