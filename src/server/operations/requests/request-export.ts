import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  REQUESTS_EXPORT_MAX,
  REQUESTS_EXPORT_MS_MAX,
  REQUESTS_EXPORT_PAGE,
} from '../../../schemas/requests/request-limits.ts'
import type { RequestFormat, RequestShape } from '../../../schemas/requests/requests.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { RequestLog, RequestPage, RequestPlace, RequestQuery } from '../../ports/requests/request-log.ts'
import type { Success } from '../define.ts'
import { requestWire } from './request-answers.ts'
import { CSV_HEAD, CSV_TYPE, csvLinesOf, NDJSON_TYPE, ndjsonOf } from './request-tables.ts'

interface Export {
  readonly search: RequestQuery
  readonly format: RequestFormat | undefined
  readonly requestLog: RequestLog
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/**
 * All rows of a search as a download. The first page is read before the answer begins, so that a search that
 * cannot be made is refused with its own status. Failures: those of the request log. A failure after the first
 * page, deadline_exceeded among them, cuts the download off.
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

/** Reads the next page when the client has taken the one before: one page is in memory at a time. */
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
