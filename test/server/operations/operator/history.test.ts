import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { HistoryInput } from '../../../../src/schemas/operator/history-range.ts'
import { openHistory } from '../../../../src/server/main/front-ports.ts'
import { History } from '../../../../src/server/observe/history/history.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'
import { came } from '../../../support/operator/history.ts'

/** A node that has served three calls some seconds ago, and an event. */
function served() {
  const nowS = Math.floor(Date.now() / 1_000)
  const history = new History(nowS - 60)
  history.take(came('operation', { 'chat.create': { calls: 3, durations: { 0: 3 } } }), nowS - 20)
  history.note('reload', 'settings reloaded', (nowS - 30) * 1_000)
  return { read: (input: HistoryInput) => Promise.resolve(ok(history.read(input, nowS))) }
}

t.test('admin.get_history 200: lines of the last hour, with the events', async (t) => {
  const { call } = await openInternsFront(t, { history: served() })
  const { status, body } = await call('GET', '/admin/history?metric=requests&by=operation')
  t.equal(status, 200)
  t.match(body, {
    data: {
      scope: 'node',
      grain_seconds: 10,
      unit: 'per_second',
      lines: [{ name: 'chat.create', is_others: false, quantile: null }],
      events: [{ kind: 'reload', text: 'settings reloaded' }],
    },
  })
  const { lines } = (body as { data: { lines: { values: (number | null)[] }[] } }).data
  t.equal(
    lines[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0) * 10, 0),
    3,
  )
  const latency = await call('GET', '/admin/history?metric=latency')
  t.match(latency.body, {
    data: { unit: 'ms', lines: [{ quantile: 'p50' }, { quantile: 'p90' }, { quantile: 'p99' }] },
  })
})

t.test('admin.get_history 200: returns the line of one name, or nothing if it has none', async (t) => {
  const { call } = await openInternsFront(t, { history: served() })
  const named = (name: string) => call('GET', `/admin/history?by=operation&name=${name}`)
  t.match((await named('chat.create')).body, { data: { lines: [{ name: 'chat.create' }] } })
  t.match(await named('files.list'), { status: 200, body: { data: { lines: [], events: [{}] } } })
})

t.test('admin.get_history 400: invalid names and ranges', async (t) => {
  const { call } = await openInternsFront(t, { history: served() })
  for (const query of [
    'metric=x',
    'by=workspace',
    'grain=year',
    'from=now',
    'from=2020-01-01T00:00:00Z',
    'by=key&name=',
    'by=key&name=a%00b',
    'name=chat.create',
  ])
    t.match(await call('GET', `/admin/history?${query}`), { status: 400, type: 'query_invalid' }, query)
})

t.test('admin.get_history 403: keys of other organizations, and of other kinds', async (t) => {
  const { call, foreignKey, key } = await openInternsFront(t, { history: served() })
  t.match(await call('GET', '/admin/history', { key: foreignKey }), { status: 403, type: 'operator_only' })
  t.match(await call('GET', '/admin/history', { key: await key('inference') }), {
    status: 403,
    type: 'wrong_key_kind',
  })
})

t.test('admin.get_history 500: the supervisor does not answer, or the store is unavailable', async (t) => {
  const silent = openHistory({
    channel: { history: () => Promise.resolve(null) },
    store: { sql: null as never },
  })
  const away = { read: () => Promise.resolve(fail('store_unavailable')) }
  for (const [history, type] of [
    [silent, 'busy'],
    [away, 'store_unavailable'],
  ] as const) {
    const { call } = await openInternsFront(t, { history })
    t.match(await call('GET', '/admin/history'), { status: 500, type })
  }
})
