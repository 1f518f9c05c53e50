import t, { type Test } from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import {
  REQUESTS_EXPORT_MAX,
  REQUESTS_EXPORT_MS_MAX,
} from '../../../../src/schemas/requests/request-limits.ts'
import { REQUESTS_EXPORT_PAGE, exportOf } from '../../../../src/server/operations/requests/list-requests.ts'
import type { LoggedRequest, RequestLog } from '../../../../src/server/ports/requests/request-log.ts'
import { findRequests } from '../../../../src/server/store/requests/request-search.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { gate } from '../../../support/gate.ts'
import { must, present } from '../../../support/must.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'

async function download({ url, key }: InternsFront, query: string): Promise<Response> {
  const headers = { authorization: `Bearer ${await key('management')}` }
  return fetch(`${url}/admin/requests?${query}`, { headers })
}

t.test('requests.list 400: an export must be CSV or JSON lines, without pages', async (t) => {
  const { call } = await openInternsFront(t)
  for (const [query, path] of [
    ['all=true', '/format'],
    ['all=true&format=json', '/format'],
    ['all=true&format=csv&limit=5', '/limit'],
  ])
    t.match(await call('GET', `/admin/requests?${query}`), {
      status: 400,
      type: 'query_invalid',
      body: { error: { metadata: { issues: [{ path }] } } },
    })
})

t.test('requests.list 200: an export has the rows of all pages, as a download', async (t) => {
  const front = await openInternsFront(t)
  const { store, organizationId } = front
  const rows = REQUESTS_EXPORT_PAGE * 2 + 1
  const calls = Array.from({ length: rows }, (_, n) => ({
    ...{ organizationId, requestId: `r${n}`, notes: { model: n === 0 ? '=1+1' : 'a/b' } },
  }))
  await insertRequests(store, batchOfCalls(...calls))
  const csv = await download(front, 'all=true&format=csv')
  t.equal(csv.headers.get('content-disposition'), 'attachment; filename="requests.csv"')
  t.match(csv.headers.get('content-type'), 'text/csv')
  const text = await csv.text()
  const lines = text.trimEnd().split('\r\n')
  t.equal(lines.length, rows + 1)
  t.equal(lines.filter((line) => line.startsWith('id,request_id')).length, 1)
  t.match(text, ",'=1+1,", 'a spreadsheet runs no cell')
  const ndjson = await download(front, 'all=true&format=ndjson&model=a/b')
  t.equal((await ndjson.text()).trimEnd().split('\n').length, rows - 1)
})

t.test('requests.list 200: an export without rows contains the column names', async (t) => {
  const front = await openInternsFront(t)
  t.match(await (await download(front, 'all=true&format=csv')).text(), /^id,request_id[^\n]*\r\n$/)
  t.equal(await (await download(front, 'all=true&format=ndjson')).text(), '')
})

t.test(
  `requests.list 200: an export contains REQUESTS_EXPORT_MAX (${REQUESTS_EXPORT_MAX}) rows at most`,
  async (t) => {
    const row = await rowOf(t)
    let pages = 0
    const requestLog: RequestLog = {
      find: async ({ limit }) => {
        pages++
        return ok({ rows: Array.from({ length: limit }, () => row), next: row })
      },
    }
    const front = await openInternsFront(t, { requestLog })
    const answer = await download(front, 'all=true&format=ndjson')
    let lines = 0
    const decoder = new TextDecoder()
    for await (const piece of present(answer.body ?? undefined))
      lines += decoder.decode(piece as Uint8Array, { stream: true }).split('\n').length - 1
    t.equal(lines, REQUESTS_EXPORT_MAX)
    t.equal(pages, REQUESTS_EXPORT_MAX / REQUESTS_EXPORT_PAGE)
  },
)

t.test('requests.list 503: an export is refused when its first page is refused as busy', async (t) => {
  const requestLog = { find: async () => fail('busy', { retryAfterS: 1 }) }
  const front = await openInternsFront(t, { requestLog })
  t.equal((await download(front, 'all=true&format=csv')).status, 503)
})

t.test('a failure after the first page cuts an export, so that its client notices', async (t) => {
  const row = await rowOf(t)
  const requestLog: RequestLog = {
    find: async ({ before }) =>
      before === undefined ? ok({ rows: [row], next: row }) : fail('store_unavailable'),
  }
  const front = await openInternsFront(t, { requestLog })
  const answer = await download(front, 'all=true&format=csv')
  t.equal(answer.status, 200)
  await t.rejects(answer.text())
})

t.test('an export is cut off after REQUESTS_EXPORT_MS_MAX, and reads no further page', async (t) => {
  const row = await rowOf(t)
  let [nowMs, pages] = [5_000, 0]
  const requestLog: RequestLog = {
    find: async () => {
      pages++
      return ok({ rows: [row], next: row })
    },
  }
  const search = { organizationId: row.requestId, limit: 1 }
  const answer = must(
    await exportOf({ search, format: 'ndjson', requestLog, now: () => nowMs }, new AbortController().signal),
  )
  if (answer.kind !== 'relay') throw new Error(`an answer of kind ${answer.kind}`)
  const { body } = answer.answer
  must(await body.next())
  nowMs += REQUESTS_EXPORT_MS_MAX - 1
  must(await body.next())
  nowMs += 1
  t.match(await body.next(), { ok: false, failure: { name: 'deadline_exceeded' } })
  t.equal(pages, 2)
})

t.test('a disconnect of the client ends the export', async (t) => {
  const row = await rowOf(t)
  const [begun, ended] = [gate(), gate()]
  const requestLog: RequestLog = {
    find(query, signal) {
      if (query.before === undefined) return Promise.resolve(ok({ rows: [row], next: row }))
      signal.addEventListener('abort', () => ended.open())
      begun.open()
      return new Promise(() => {})
    },
  }
  const front = await openInternsFront(t, { requestLog })
  const left = new AbortController()
  const headers = { authorization: `Bearer ${await front.key('management')}` }
  await fetch(`${front.url}/admin/requests?all=true&format=csv`, { headers, signal: left.signal })
  await begun.opened
  left.abort()
  await ended.opened
})

/** A row as the log gives it. */
async function rowOf(t: Test): Promise<LoggedRequest> {
  const { store, organizationId } = await openInternsFront(t)
  await insertRequests(store, batchOfCalls({ organizationId }))
  return present(must(await findRequests(store, { organizationId, limit: 1 })).rows[0])
}
