import { faultsOfInstants } from '../../../schemas/audit/audit.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { REQUESTS_PAGE_DEFAULT } from '../../../schemas/requests/request-limits.ts'
import type { ListRequestsQuery } from '../../../schemas/requests/requests.ts'
import type { RequestQuery } from '../../ports/requests/request-log.ts'
import { placeOfCursor } from './request-answers.ts'
import { nanoOfUsd } from '../../../schemas/money/costs.ts'

/** A query of the log without its organization. */
type Asked = Omit<RequestQuery, 'organizationId'>

/** The query of the log that a request describes. Failure: query_invalid. */
export function requestQueryOf(query: ListRequestsQuery): Outcome<Asked> {
  const before = query.cursor === undefined ? undefined : placeOfCursor(query.cursor)
  const faults = faultsOfInstants({ since: query.from, until: query.to }).map(({ path, expected }) => ({
    path: path === '/since' ? '/from' : '/to',
    message: 'is not a date and time',
    expected,
  }))
  if (before === null)
    faults.push({
      path: '/cursor',
      message: 'is not a valid cursor',
      expected: 'the `next_cursor` of a page',
    })
  if (query.all === true) faults.push(...faultsOfExport(query))
  if (faults.length > 0) return fail('query_invalid', { metadata: { issues: faults } })
  const { limit = REQUESTS_PAGE_DEFAULT, min_cost_usd: minCostUsd } = query
  const given = {
    workspace: query.workspace_id,
    key: query.key,
    keyName: query.key_name,
    requestId: query.request_id,
    operation: query.operation,
    model: query.model,
    modelPrefix: query.model_prefix,
    provider: query.provider,
    error: query.error_type,
    isFailed: query.failed,
    isLeft: query.left,
    status: query.status === undefined ? undefined : statusesOf(query.status),
    minDurationMs: query.min_duration_ms,
    minCostNano: minCostUsd === undefined ? undefined : Number(nanoOfUsd(minCostUsd)),
    from: query.from,
    to: query.to,
    before: before ?? undefined,
  }
  return ok({ limit, ...(withoutGaps(given) as Omit<Asked, 'limit'>) })
}

/** An export is CSV or NDJSON and has no pages. */
function faultsOfExport({ format, limit, cursor }: ListRequestsQuery) {
  const faults: { path: string; message: string; expected: string }[] = []
  if (format !== 'csv' && format !== 'ndjson')
    faults.push({
      path: '/format',
      message: 'is not an export format',
      expected: '`csv` or `ndjson` when `all` is set',
    })
  for (const [name, value] of Object.entries({ limit, cursor }))
    if (value !== undefined)
      faults.push({
        path: `/${name}`,
        message: 'cannot be combined with `all`',
        expected: 'no `limit` and no `cursor`',
      })
  return faults
}

function withoutGaps(given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The lowest and the highest status that `429` or `4xx` includes. */
function statusesOf(text: string): readonly [number, number] {
  return [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))]
}
