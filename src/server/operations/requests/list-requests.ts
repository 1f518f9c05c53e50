import { ok } from '../../../schemas/failures.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import {
  ListRequestsQuery,
  RequestListAnswer,
  type RequestFormat,
} from '../../../schemas/requests/requests.ts'
import type { RequestPage } from '../../ports/requests/request-log.ts'
import { defineOperation, type Success } from '../define.ts'
import { cursorOf, requestWire } from './request-answers.ts'
import { requestQueryOf } from './request-query.ts'
import { exportOf } from './request-export.ts'
import { csvOf, CSV_TYPE, NDJSON_TYPE, ndjsonOf } from './request-tables.ts'
import { wordsOf, type Models } from './request-words.ts'

/** Lists finished calls, newest first. Source: an extension of Sluice; C4. */
export const listRequests = defineOperation({
  id: 'requests.list',
  method: 'get',
  path: '/admin/requests',
  tag: 'admin',
  summary: 'List requests with cost and errors',
  description:
    'Finished calls of the organization, a few seconds after their end: key, model, provider, durations, tokens, cost and error type; ' +
    'never a prompt, an answer or a secret. All calls that cost something are kept. Equal refusals and reads are sampled, and ' +
    '`weight` is the number of calls that a row represents. Searches run one at a time per organization; ' +
    'if too many are waiting, the call returns 503 `busy` with `Retry-After`.',
  access: { keys: ['management'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: ListRequestsQuery },
  success: {
    status: 200,
    body: RequestListAnswer,
    isList: true,
    headers: { 'x-sluice-next-cursor': 'Value of `cursor` for the next page, sent with CSV and NDJSON.' },
  },
  statuses: [400, 403, 404, 500, 503],
  failures: ['query_invalid', 'workspace_unknown', 'operator_only', 'store_unavailable', 'busy'],
  example: { query: { failed: true, limit: 20 } },
  async run({ key, query, signal }, { requestLog, operators, models }) {
    const asked = requestQueryOf(query)
    if (!asked.ok) return asked
    if (query.unauthenticated === true) {
      const operator = await operators.targetOf(key.organizationId, undefined)
      if (!operator.ok) return operator
    }
    const organizationId = query.unauthenticated === true ? null : key.organizationId
    const search = { organizationId, ...asked.value }
    if (query.all === true) return exportOf({ search, format: query.format, requestLog }, signal)
    const page = await requestLog.find(search, signal)
    return page.ok ? ok(answerOf(page.value, query.format ?? 'json', models)) : page
  },
})

function answerOf({ rows, next }: RequestPage, format: RequestFormat, models: Models): Success {
  const { data, rows: taken, isCut } = cutPage(rows, requestWire)
  const last = taken.at(-1)
  const place = isCut && last !== undefined ? last : next
  const cursor = place === null ? null : cursorOf(place)
  if (format === 'json')
    return {
      kind: 'json',
      value: { data, has_more: cursor !== null, next_cursor: cursor, ...wordsOf(data, models) },
    }
  const isCsv = format === 'csv'
  return {
    kind: 'bytes',
    parts: [Buffer.from(isCsv ? csvOf(data) : ndjsonOf(data))],
    contentType: isCsv ? CSV_TYPE : NDJSON_TYPE,
    headers: cursor === null ? {} : { 'x-sluice-next-cursor': cursor },
  }
}
