import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  ListRequestsQuery,
  type RequestFormat,
  RequestListAnswer,
  type RequestShape,
} from '../../../schemas/requests/requests.ts'
import { nearest } from '../../../schemas/nearest.ts'
import { failureWords, type FailureWords } from '../../../schemas/failure-words.ts'
import {
  ASKED_MODELS_COMPARED_MAX,
  REQUESTS_EXPORT_MAX,
  REQUESTS_EXPORT_MS_MAX,
} from '../../../schemas/requests/request-limits.ts'
import type { RequestLog, RequestPage, RequestPlace, RequestQuery } from '../../ports/requests/request-log.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import { defineOperation, type Success } from '../define.ts'
import { comparedNames } from '../name-hints.ts'
import { cursorOf, requestWire } from './request-answers.ts'
import { requestQueryOf } from './request-query.ts'
import { CSV_HEAD, CSV_TYPE, csvLinesOf, csvOf, NDJSON_TYPE, ndjsonOf } from './request-tables.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Rows that an export reads at once: their text fits into one piece of an answer. Decision. */
export const REQUESTS_EXPORT_PAGE = 200

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

type Models = Pick<ModelCatalogue, 'models' | 'aliases'>

interface Words {
  readonly errors: Readonly<Record<string, FailureWords>>
  readonly nearest_models: Readonly<Record<string, readonly string[]>>
}

/** The explanation of each failure among these rows, once for each name. */
function wordsOf(rows: readonly RequestShape[], models: Models): Words {
  const names = new Set(rows.flatMap(({ error_type: error }) => error ?? []))
  const errors = Array.from(names, (name) => [name, failureWords(name)] as const)
  const misspelt = rows.flatMap(({ error_type: error, model }) =>
    error === 'model_unknown' && model !== null ? model : [],
  )
  const compared = [...new Set(misspelt)].slice(0, ASKED_MODELS_COMPARED_MAX)
  const known = compared.length === 0 ? [] : comparedNames(models)
  return {
    errors: Object.fromEntries(errors.filter((entry): entry is [string, FailureWords] => entry[1] !== null)),
    nearest_models: Object.fromEntries(compared.map((name) => [name, nearest(name, known)])),
  }
}

interface Export {
  readonly search: RequestQuery
  readonly format: RequestFormat | undefined
  readonly requestLog: RequestLog
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/**
 * All rows of a search as a download. The first page is read before the answer begins, so that a failed search
 * is answered with its own status. Failures: those of the request log. A later failure, including
 * deadline_exceeded, cuts the download off.
 */
export async function exportOf(asked: Export, signal: AbortSignal): Promise<Outcome<Success>> {
  const search = { ...asked.search, limit: REQUESTS_EXPORT_PAGE }
  const first = await asked.requestLog.find(search, signal)
  if (!first.ok) return first
  const isCsv = asked.format === 'csv'
  const headers = [
    ...['content-type', isCsv ? CSV_TYPE : NDJSON_TYPE],
    ...['content-disposition', `attachment; filename="requests.${isCsv ? 'csv' : 'ndjson'}"`],
    ...['cache-control', 'no-store'],
  ]
  const body = new ExportReader({ ...asked, search }, first.value)
  return ok({ kind: 'relay', answer: { status: 200, headers, bodyBytes: null, body } })
}

/** Reads the next page once the client has received the previous one, so that only one page is in memory. */
class ExportReader implements ByteReader {
  readonly #asked: Export
  readonly #left = new AbortController()
  readonly #now: () => number
  readonly #endsAtMs: number
  #page: RequestPage | null
  #place: RequestPlace | null = null
  #rows = 0
  #isBegun = false

  constructor(asked: Export, first: RequestPage) {
    this.#asked = asked
    this.#now = asked.now ?? (() => performance.now())
    this.#endsAtMs = this.#now() + REQUESTS_EXPORT_MS_MAX
    this.#page = first
  }

  async next(): Promise<Outcome<Uint8Array | null>> {
    for (;;) {
      const page = await this.#take()
      if (!page.ok) return page
      const text = page.value === null ? '' : this.#textOf(page.value)
      if (text !== '') return ok(Buffer.from(text))
      if (page.value === null) return ok(null)
    }
  }

  close(): void {
    this.#left.abort()
  }

  /** Null after the last page. */
  async #take(): Promise<Outcome<RequestPage | null>> {
    const first = this.#page
    this.#page = null
    if (first === null && (this.#place === null || this.#rows >= REQUESTS_EXPORT_MAX)) return ok(null)
    if (this.#now() >= this.#endsAtMs) return fail('deadline_exceeded')
    const { requestLog, search } = this.#asked
    const page =
      first === null
        ? await requestLog.find(
            { ...search, ...(this.#place !== null && { before: this.#place }) },
            this.#left.signal,
          )
        : ok(first)
    if (page.ok) this.#place = page.value.next
    return page
  }

  #textOf({ rows }: RequestPage): string {
    const taken: readonly RequestShape[] = rows.slice(0, REQUESTS_EXPORT_MAX - this.#rows).map(requestWire)
    this.#rows += taken.length
    const head = this.#isBegun || this.#asked.format !== 'csv' ? '' : CSV_HEAD
    this.#isBegun = true
    return head + (this.#asked.format === 'csv' ? csvLinesOf(taken) : ndjsonOf(taken))
  }
}
