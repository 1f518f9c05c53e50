import t, { type Test } from 'tap'
import type { Static } from 'typebox'
import {
  ASKED_MODELS_COMPARED_MAX,
  REQUESTS_LOOKED_MAX,
  REQUESTS_PAGE_DEFAULT,
  REQUESTS_PAGE_MAX,
} from '../../../../src/schemas/requests/request-limits.ts'
import {
  REQUESTS_KEY_PREFIX_MIN,
  type RequestListAnswer,
  type RequestShape,
} from '../../../../src/schemas/requests/requests.ts'
import type { RequestLog } from '../../../../src/server/ports/requests/request-log.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { FAILURE_CAUSES } from '../../../../src/schemas/failure-causes.ts'
import { fail } from '../../../../src/schemas/failures.ts'
import {
  batchOfCalls,
  KEY_HASH,
  ownId,
  segmentOfCalls,
  type EndedCall,
} from '../../../support/requests/settled-call.ts'
import { gate } from '../../../support/gate.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'

const NOON = Date.parse('2026-03-18T12:00:00Z')

type Words = Pick<Static<typeof RequestListAnswer>, 'errors' | 'nearest_models'>
type Page = { readonly data: readonly RequestShape[]; readonly next_cursor: string | null }

async function stand(
  t: Test,
): Promise<InternsFront & { add(...calls: readonly EndedCall[]): Promise<void> }> {
  const front = await openInternsFront(t)
  const { store, organizationId } = front
  return {
    ...front,
    async add(...calls) {
      await insertRequests(
        store,
        batchOfCalls(
          ...calls.map((call, n) => ({ organizationId, endedMs: NOON + n, requestId: `r${n}`, ...call })),
        ),
      )
    },
  }
}

function finder({ call }: Pick<InternsFront, 'call'>) {
  return async (query: string): Promise<readonly string[]> => {
    const { status, body } = await call('GET', `/admin/requests?${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as unknown as Page).data.map(({ request_id }) => request_id)
  }
}

t.test('another organization sees none of the calls with any filter', async (t) => {
  const { add, call, foreignKey, workspace } = await stand(t)
  await add({ keyHash: KEY_HASH, workspaceId: workspace.id }, { failure: 'internal', status: 500 })
  for (const query of ['', `key=${KEY_HASH}`, 'request_id=r0', 'failed=true', 'from=2020-01-01T00:00:00Z'])
    t.match(await call('GET', `/admin/requests?${query}`, { key: foreignKey }), {
      status: 200,
      body: { data: [], has_more: false, next_cursor: null },
    })
  const { body } = await call('GET', '/admin/requests?limit=1')
  const cursor = (body as unknown as Page).next_cursor ?? ''
  t.match(await call('GET', `/admin/requests?cursor=${cursor}`, { key: foreignKey }), { body: { data: [] } })
  t.match(await call('GET', `/admin/requests?workspace_id=${workspace.id}`, { key: foreignKey }), {
    status: 404,
    type: 'workspace_unknown',
  })
})

t.test('requests.list 200: returns the reason of a failed call, from a row and from a segment', async (t) => {
  const { add, call, store, organizationId } = await stand(t)
  const issues = [
    { path: '/messages/0/content', expected: 'string' },
    { path: '/*', expected: null },
  ]
  const failed = (more: EndedCall): EndedCall => ({ status: 400, failure: 'body_invalid', ...more })
  const facts = { status: 500 }
  await add(
    {},
    failed({ reason: () => ({ issues }) }),
    failed({ failure: 'upstream_failed', status: 502, reason: () => ({ message: 'words', facts }) }),
    failed({ reason: () => null }),
  )
  const ofSegment = { organizationId, requestId: ownId(7), endedMs: NOON + 9, reason: () => ({ issues }) }
  await insertRequests(store, segmentOfCalls(failed(ofSegment)))
  const { body } = await call('GET', '/admin/requests?failed=true')
  t.same(
    (body as unknown as Page).data.map(({ reason }) => reason),
    [
      { message: null, issues, facts: {} },
      null,
      { message: 'words', issues: [], facts },
      { message: null, issues, facts: {} },
    ],
  )
})

t.test('requests.list 403: only the operator can list calls without a valid key', async (t) => {
  const { add, call, foreignKey } = await stand(t)
  await add({ organizationId: null, status: 401, failure: 'key_unknown' })
  t.match(await call('GET', '/admin/requests?unauthenticated=true', { key: foreignKey }), {
    status: 403,
    type: 'operator_only',
  })
  t.match((await call('GET', '/admin/requests')).body, { data: [] })
  t.match((await call('GET', '/admin/requests?unauthenticated=true')).body, {
    data: [{ error_type: 'key_unknown', key: null, workspace_id: null }],
  })
})

t.test('requests.list 400: invalid filters, pages and cursors', async (t) => {
  const { call } = await stand(t)
  for (const query of [
    `key=${'a'.repeat(REQUESTS_KEY_PREFIX_MIN - 1)}`,
    'key=zzzzzz',
    'status=42',
    'status=6xx',
    'failed=perhaps',
    'left=perhaps',
    'from=yesterday',
    'to=2026-02-30T00:00:00Z',
    'min_duration_ms=-1',
    'min_cost_usd=x',
    'cursor=x',
    `cursor=${Buffer.from('before:1.2.3; DROP TABLE requests').toString('base64url')}`,
    `cursor=${Buffer.from(`before:${'9'.repeat(18)}.2.3`).toString('base64url')}`,
    'limit=0',
    `limit=${REQUESTS_PAGE_MAX + 1}`,
    'format=xml',
    'model=%00',
  ])
    t.match(await call('GET', `/admin/requests?${query}`), { status: 400, type: 'query_invalid' }, query)
})

t.test('requests.list 404: a workspace that is not in the organization', async (t) => {
  const { call } = await stand(t)
  t.match(await call('GET', '/admin/requests?workspace_id=nope'), { status: 404, type: 'workspace_unknown' })
})

t.test('requests.list 503: too many searches of the organization are waiting', async (t) => {
  const requestLog = { find: async () => fail('busy', { retryAfterS: 1 }) }
  const { call } = await openInternsFront(t, { requestLog })
  const { status, type, headers } = await call('GET', '/admin/requests')
  t.same([status, type, headers.get('retry-after')], [503, 'busy', '1'])
})

t.test('a disconnect of the client ends its search', async (t) => {
  const [begun, ended] = [gate(), gate()]
  const requestLog: RequestLog = {
    find(_, signal) {
      signal.addEventListener('abort', () => ended.open())
      begun.open()
      return new Promise(() => {})
    },
  }
  const { url, key } = await openInternsFront(t, { requestLog })
  const left = new AbortController()
  const headers = { authorization: `Bearer ${await key('management')}` }
  const answer = fetch(`${url}/admin/requests`, { headers, signal: left.signal })
  await begun.opened
  left.abort()
  await t.rejects(answer, { name: 'AbortError' })
  await ended.opened
})

t.test('requests.list 200: each call with its parts, its cost and the page about its error', async (t) => {
  const { add, call, workspace } = await stand(t)
  await add({
    requestId: 'one',
    keyHash: KEY_HASH,
    workspaceId: workspace.id,
    status: 502,
    failure: 'upstream_failed',
    durationMs: 250,
    limits: {
      isCreditLimited: false,
      isWorkspaceLimited: true,
      isKeyLimited: true,
      workspaceCountsByok: false,
      keyCountsByok: false,
    },
    notes: {
      authMs: 1,
      holdMs: 2,
      model: 'acme/one',
      costUsd: 0.25,
      promptTokens: 3,
      failedAttempts: [{ provider: 'acme', status: 503, code: 'overloaded' }],
      attemptTimes: [1_005, 20],
    },
  })
  t.match((await call('GET', '/admin/requests')).body, {
    data: [
      {
        id: /^\d+-1$/,
        request_id: 'one',
        started_at: '2026-03-18T11:59:59.750Z',
        ended_at: '2026-03-18T12:00:00.000Z',
        operation: 'embeddings.create',
        status: 502,
        error_type: 'upstream_failed',
        docs_url: '/docs/errors/upstream_failed',
        key: KEY_HASH,
        model: 'acme/one',
        provider: 'acme',
        failed_attempts: [
          { provider: 'acme', status: 503, code: 'overloaded', started_ms: 5, duration_ms: 20 },
        ],
        parts: { auth_ms: 1, limits_ms: null, hold_ms: 2 },
        tokens: { input: 3, output: null },
        cost_usd: 0.25,
        charged_to: ['workspace', 'key'],
        weight: 1,
        is_recovered: false,
      },
    ],
  })
})

t.test('an answer explains each kind of failure once, and suggests models for misspelt names', async (t) => {
  const { add, call } = await stand(t)
  const misspelt = { status: 404, failure: 'model_unknown' as const }
  const asked = (nth: number) => ({ ...misspelt, notes: { model: `sluice/lexical-${nth + 2}` } })
  await add(
    { status: 403, failure: 'key_limit_exceeded' },
    misspelt,
    ...Array.from({ length: ASKED_MODELS_COMPARED_MAX + 1 }, (_, nth) => asked(nth)),
  )
  const { body } = await call('GET', '/admin/requests')
  const { errors, nearest_models: nearest } = body as unknown as Words
  t.same(Object.keys(errors).sort(), ['key_limit_exceeded', 'model_unknown'])
  t.match(errors['key_limit_exceeded'], {
    cause: FAILURE_CAUSES.key_limit_exceeded,
    remedy: /^Have callers send `max_tokens`.* or raise the key's limit\.$/,
    page: 'keys',
  })
  t.equal(Object.keys(nearest).length, ASKED_MODELS_COMPARED_MAX)
  for (const near of Object.values(nearest)) t.ok(near.includes('sluice/lexical-1'))
  t.match((await call('GET', '/admin/requests?failed=false')).body, { errors: {}, nearest_models: {} })
})

t.test('finds calls by each filter, separately and combined', async (t) => {
  const front = await stand(t)
  const { add, other, workspace } = front
  const found = finder(front)
  await add(
    {
      keyHash: KEY_HASH,
      workspaceId: workspace.id,
      durationMs: 10,
      notes: { model: 'a/one', provider: 'a' },
    },
    { keyHash: 'cd'.repeat(32), status: 429, failure: 'rate_limited', operation: 'chat.create' },
    {
      workspaceId: other.id,
      status: 502,
      failure: 'upstream_failed',
      durationMs: 900,
      notes: { model: 'b/two' },
    },
    { status: 500, failure: 'internal', notes: { costUsd: 0.5 } },
  )
  t.same(await found(''), ['r3', 'r2', 'r1', 'r0'])
  t.same(await found(`key=${KEY_HASH}`), ['r0'])
  t.same(await found(`key=${KEY_HASH.slice(0, REQUESTS_KEY_PREFIX_MIN)}`), ['r0'])
  t.same(await found('model=a/one'), ['r0'])
  t.same(await found('provider=a'), ['r0'])
  t.same(await found('operation=chat.create'), ['r1'])
  t.same(await found('status=429'), ['r1'])
  t.same(await found('status=5xx'), ['r3', 'r2'])
  t.same(await found('error_type=internal'), ['r3'])
  t.same(await found('failed=true'), ['r3', 'r2', 'r1'])
  t.same(await found('failed=false'), ['r0'])
  t.same(await found('failed=false&error_type=internal'), [])
  for (const ref of [other.id, 'other']) t.same(await found(`workspace_id=${ref}`), ['r2'], ref)
  t.same(await found('min_duration_ms=900'), ['r2'])
  for (const least of ['1e39', '1e308']) t.same(await found(`min_duration_ms=${least}`), [], least)
  for (const least of ['1e-50', '5e-324', '0'])
    t.same(await found(`min_duration_ms=${least}`), ['r3', 'r2', 'r1', 'r0'], least)
  t.same(await found('min_cost_usd=0.5'), ['r3'])
  t.same(await found('min_cost_usd=0.500000001'), [])
  t.same(await found('request_id=r1'), ['r1'])
  t.same(await found('request_id=r1&failed=false'), [])
  t.same(await found(`from=${new Date(NOON + 2).toISOString()}`), ['r3', 'r2'])
  t.same(await found(`to=${new Date(NOON + 2).toISOString()}`), ['r1', 'r0'])
  t.same(await found('status=5xx&model=b/two&min_duration_ms=1&failed=true'), ['r2'])
})

t.test('next_cursor pages contain each call once, also for calls of the same millisecond', async (t) => {
  const front = await stand(t)
  const { add, call } = front
  await add(...Array.from({ length: 7 }, () => ({ endedMs: NOON })))
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await call('GET', `/admin/requests?limit=3&cursor=${cursor}`.replace(/&cursor=$/, ''))
    const { data, next_cursor } = body as unknown as Page
    ids.push(...data.map(({ request_id }) => request_id))
    cursor = next_cursor
    await add({ endedMs: NOON + 60_000, requestId: 'later' })
  }
  t.same(ids, ['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0'])
  t.ok(REQUESTS_LOOKED_MAX > REQUESTS_PAGE_MAX)
})

t.test('a page has a default size', async (t) => {
  const { add, call } = await stand(t)
  await add(...Array.from({ length: REQUESTS_PAGE_DEFAULT + 1 }, () => ({})))
  const { body } = await call('GET', '/admin/requests')
  t.match(body, { has_more: true, next_cursor: /^.+$/ })
  t.equal((body as unknown as Page).data.length, REQUESTS_PAGE_DEFAULT)
})

t.test('CSV and JSON lines have the same rows, and no cell that a spreadsheet would execute', async (t) => {
  const { add, url, key } = await stand(t)
  await add({ requestId: '-1-2', notes: { model: '=HYPERLINK("x,y")' } }, { requestId: 'b' })
  const headers = { authorization: `Bearer ${await key('management')}` }
  const csv = await fetch(`${url}/admin/requests?format=csv&limit=1`, { headers })
  t.match(csv.headers.get('content-type'), 'text/csv')
  const cursor = csv.headers.get('x-sluice-next-cursor') ?? ''
  t.match(await csv.text(), /^id,request_id,started_at[^\r]*\r\n\d+-2,b,2026-[^\r]*\r\n$/)
  const next = await fetch(`${url}/admin/requests?format=csv&cursor=${cursor}`, { headers })
  t.equal(next.headers.get('x-sluice-next-cursor'), null)
  const text = await next.text()
  t.match(text, ",'-1-2,")
  t.match(text, `"'=HYPERLINK(""x,y"")"`)
  const lines = await fetch(`${url}/admin/requests?format=ndjson`, { headers })
  t.match(lines.headers.get('content-type'), 'application/x-ndjson')
  const rows = (await lines.text()).trimEnd().split('\n')
  t.same(
    rows.map((row) => (JSON.parse(row) as RequestShape).request_id),
    ['b', '-1-2'],
  )
})
