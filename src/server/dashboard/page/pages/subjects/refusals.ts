import type { FailureName } from '../../../../../schemas/failures.ts'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import type { Api, Query } from '../../api.ts'
import { count } from '../../parts/figures.tsx'

/** Rows of the log that are read to count the refusals of one limit. Decision. */
const ROWS_READ = 500
const HOUR_MS = 3_600_000

/** The errors of spending limits, by the owner of the limit. */
const ERRORS = {
  organization: 'credit_exhausted',
  workspace: 'budget_exceeded',
  key: 'key_limit_exceeded',
} as const satisfies Record<string, FailureName>
type Owner = keyof typeof ERRORS

export interface Refused {
  readonly calls: number
  /** There are more. */
  readonly isPartial: boolean
}

/** Calls that spending limits refused in the last hour. */
export interface Refusals {
  /** @param id hash of the key or id of the workspace; any text for an organization */
  of(owner: Owner, id: string): Refused
}

/** @param search parameters of `GET /admin/requests` */
export async function loadRefusals(
  api: Api,
  { nowMs, search = {} }: { readonly nowMs: number; readonly search?: Query },
  signal: AbortSignal,
): Promise<Refusals> {
  const from = new Date(nowMs - HOUR_MS).toISOString()
  const read = async (owner: Owner): Promise<readonly [Owner, Page]> => {
    const query = { ...search, from, error_type: ERRORS[owner], limit: ROWS_READ }
    return [owner, await api.get<Page>(['admin', 'requests'], query, signal)]
  }
  const pages = new Map(await Promise.all((Object.keys(ERRORS) as Owner[]).map(read)))
  return { of: (owner, id) => refusedOf(pages.get(owner) ?? NOTHING, owner, id) }
}

type Row = Pick<RequestShape, 'key' | 'workspace_id' | 'weight'>
interface Page {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}
const NOTHING: Page = { data: [], next_cursor: null }

function refusedOf({ data, next_cursor: next }: Page, owner: Owner, id: string): Refused {
  const own = data.filter(
    ({ key, workspace_id: workspace }) =>
      owner === 'organization' || id === (owner === 'key' ? key : workspace),
  )
  return { calls: own.reduce((sum, { weight }) => sum + weight, 0), isPartial: next !== null }
}

/** The text for a limit that is used up: `refusing calls now (142 in the last hour)`. */
export function refusingText(refused: Refused): string {
  return `refusing calls now (${refused.calls === 0 ? 'none' : countOf(refused)} in the last hour)`
}

/** The text for a limit that is not used up but that some calls would have exceeded: `142 calls refused in the last hour`. */
export function refusedText(refused: Refused): string {
  return `${countOf(refused)} ${refused.calls === 1 ? 'call' : 'calls'} refused in the last hour`
}

function countOf({ calls, isPartial }: Refused): string {
  return `${isPartial ? 'more than ' : ''}${count(calls)}`
}
