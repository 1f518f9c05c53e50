import t from 'tap'
import {
  ACTIVITY_DAYS_DEFAULT,
  ACTIVITY_DAYS_MAX,
  ACTIVITY_PAGE_DEFAULT,
} from '../../../../src/schemas/money/money-limits.ts'
import { sumActivity } from '../../../../src/server/store/money/activity.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { turnTo } from '../../../support/money/accounts.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'
import { ACTIVITY_OFFSET_MAX, ACTIVITY_PAGE_MAX } from '../../../../src/schemas/money/activity.ts'

const [KEY_A, KEY_B] = ['a'.repeat(64), 'b'.repeat(64)]
const TODAY = '2024-03-01'

t.test('activity.list 200: a row for each day, workspace, key and model, newest first, in USD', async (t) => {
  const front = await stand(t)
  const { call, workspace, other } = front
  const { status, body } = await call('GET', '/activity')
  t.equal(status, 200)
  t.same(rowsOf(body), [
    [TODAY, workspace.id, KEY_A, 'm/1'],
    [TODAY, workspace.id, KEY_B, 'm/1'],
    [TODAY, other.id, KEY_B, 'm/2'],
    ['2024-02-29', workspace.id, KEY_A, 'm/1'],
  ])
  t.match(body, { total_count: 4, from: '2024-02-01', to: TODAY })
  t.same((body['data'] as unknown[])[0], {
    date: TODAY,
    workspace_id: workspace.id,
    key_hash: KEY_A,
    model: 'm/1',
    requests: 3,
    tokens: 30,
    output_tokens: 12,
    cached_tokens: 10,
    milliseconds: 5,
    usage: 1.000000001,
    byok_usage: 2e-9,
    forfeited: 0.5,
  })
})

t.test('filters rows by day, workspace, key and model, and returns them in pages', async (t) => {
  const { call, other, workspace } = await stand(t)
  const found = async (query: string): Promise<unknown> =>
    rowsOf((await call('GET', `/activity?${query}`)).body).map(([day, , key, model]) => [day, key, model])
  t.same(await found('from=2024-01-01&to=2024-01-31'), [['2024-01-31', KEY_A, 'm/1']])
  t.same(await found('to=2024-02-28'), [['2024-01-31', KEY_A, 'm/1']])
  t.same(await found('from=2024-03-01&model=m%2F1'), [
    [TODAY, KEY_A, 'm/1'],
    [TODAY, KEY_B, 'm/1'],
  ])
  for (const ref of ['other', other.id]) t.same(await found(`workspace_id=${ref}`), [[TODAY, KEY_B, 'm/2']])
  t.same(await found(`workspace_id=${workspace.id}&key_hash=${KEY_B}`), [[TODAY, KEY_B, 'm/1']])
  t.same(await found(`key_hash=${'0'.repeat(64)}`), [])
  const all = (await found('')) as unknown[]
  const pages = await Promise.all(
    [0, 1, 2, 3].map((offset) => call('GET', `/activity?limit=1&offset=${offset}`)),
  )
  t.same(
    pages.flatMap(({ body }) => rowsOf(body)).map(([day, , key, model]) => [day, key, model]),
    all,
  )
  t.ok(pages.every(({ body }) => body['total_count'] === 4))
})

t.test('the default period ends at `to`, or starts at `from`, and has a maximum length', async (t) => {
  const { call } = await stand(t)
  const period = async (query: string): Promise<unknown> => {
    const { from, to } = (await call('GET', `/activity?${query}`)).body
    return [from, to]
  }
  t.equal((Date.parse(TODAY) - Date.parse('2024-02-01')) / 86_400_000 + 1, ACTIVITY_DAYS_DEFAULT)
  t.same(await period('to=2024-02-28'), ['2024-01-30', '2024-02-28'])
  t.same(await period('from=2024-02-28'), ['2024-02-28', TODAY])
  t.same(await period('from=2022-01-01'), ['2022-01-01', '2023-01-01'])
  t.equal((Date.parse('2023-01-01') - Date.parse('2022-01-01')) / 86_400_000 + 1, ACTIVITY_DAYS_MAX)
  t.same(await period('from=2022-01-01&to=2023-01-01'), ['2022-01-01', '2023-01-01'])
})

t.test('activity.list 400: invalid days, periods too long or reversed, and invalid pages', async (t) => {
  const { call } = await openInternsFront(t)
  for (const query of [
    'from=2024-02-30',
    'to=2023-02-29',
    'from=2024-13-01',
    'from=yesterday',
    'from=2024-1-1',
    'from=0000-01-01',
    'to=9999-12-31',
    'from=2024-03-01&to=2024-02-29',
    'from=2022-01-01&to=2023-01-02',
    'limit=0',
    `limit=${ACTIVITY_PAGE_MAX + 1}`,
    'offset=-1',
    `offset=${ACTIVITY_OFFSET_MAX + 1}`,
    'key_hash=abc',
    'model=',
    'model=%00',
    'workspace_id=',
  ])
    t.match(await call('GET', `/activity?${query}`), { status: 400, type: 'query_invalid' }, query)
  t.equal(
    (await call('GET', `/activity?limit=${ACTIVITY_PAGE_MAX}&offset=${ACTIVITY_OFFSET_MAX}`)).status,
    200,
  )
})

t.test('a page of activity has a default size', async (t) => {
  const front = await openInternsFront(t)
  await turnTo(front.store, TODAY)
  for (let nth = 0; nth <= ACTIVITY_PAGE_DEFAULT; nth++)
    await insert(front.store, front, { model: `m/${nth}` })
  const { data, total_count } = (await front.call('GET', '/activity')).body as {
    data: unknown[]
    total_count: number
  }
  t.same([data.length, total_count], [ACTIVITY_PAGE_DEFAULT, ACTIVITY_PAGE_DEFAULT + 1])
})

t.test(
  'activity.list 404: an unknown or deleted workspace, or one of another organization, whose rows stay private',
  async (t) => {
    const { call, store, workspace, other, foreignKey } = await stand(t)
    await store.sql`UPDATE workspaces SET deleted_at = clock_timestamp() WHERE id = ${other.id}`
    const answer = await Promise.all([
      call('GET', '/activity?workspace_id=nowhere'),
      call('GET', '/activity?workspace_id=other'),
      call('GET', `/activity?workspace_id=${other.id}`),
      call('GET', `/activity?workspace_id=${workspace.id}`, { key: foreignKey }),
    ])
    t.same(
      answer.map(({ status, type }) => [status, type]),
      answer.map(() => [404, 'workspace_unknown']),
    )
    t.match(await call('GET', '/activity', { key: foreignKey }), { body: { data: [], total_count: 0 } })
    t.match(
      await call('GET', '/activity'),
      { body: { total_count: 4 } },
      'what a deleted workspace spent stays',
    )
  },
)

t.test('inference and intern keys are the wrong kind for activity', async (t) => {
  const { call, key, store, intern } = await openInternsFront(t)
  const input = { internId: await intern(), organizationId: null }
  for (const wrong of [await key('inference'), must(await createInternKey(store, input, CLI)).key])
    t.match(await call('GET', '/activity', { key: wrong }), { status: 403, type: 'wrong_key_kind' })
})

t.test('sums by day, key, workspace and model agree with their total', async (t) => {
  const { store, organizationId, workspace, other } = await stand(t)
  const groups = {
    day: [TODAY, '2024-02-29'],
    key: [KEY_A, KEY_B],
    workspace: ['default', 'other'],
    model: ['m/1', 'm/2'],
  } as const
  for (const by of ['day', 'key', 'workspace', 'model'] as const) {
    const report = must(await sumActivity(store, { organizationId, by }))
    t.same(
      report.groups.map(({ name }) => name),
      groups[by],
      by,
    )
    t.same(report.total, {
      requests: 12n,
      tokens: 120n,
      outputTokens: 48n,
      cachedTokens: 40n,
      milliseconds: 20n,
      spentNano: 4_000_000_004n,
      byokNano: 8n,
      forfeitedNano: 2_000_000_000n,
    })
    t.equal(
      report.groups.reduce((sum, { spentNano }) => sum + spentNano, 0n),
      report.total.spentNano,
    )
  }
  t.match(must(await sumActivity(store, { organizationId, by: 'workspace' })).groups, [
    { id: workspace.id },
    { id: other.id },
  ])
  const none = must(
    await sumActivity(store, { organizationId, by: 'model', from: '2020-01-01', to: '2020-01-02' }),
  )
  t.same([none.groups, none.total.spentNano], [[], 0n])
  t.match(must(await sumActivity(store, { organizationId, by: 'model', workspaceId: other.id })).groups, [
    { name: 'm/2', requests: 3n },
  ])
})

type Row = {
  readonly day?: string
  readonly workspaceId?: string
  readonly key?: string
  readonly model?: string
}

async function stand(t: Parameters<typeof openInternsFront>[0]): Promise<InternsFront> {
  const front = await openInternsFront(t)
  await turnTo(front.store, TODAY)
  const rows: readonly Row[] = [
    {},
    { key: KEY_B },
    { day: '2024-02-29' },
    { day: '2024-01-31' },
    { workspaceId: front.other.id, key: KEY_B, model: 'm/2' },
  ]
  for (const row of rows) await insert(front.store, front, row)
  return front
}

async function insert(store: Store, { organizationId, workspace }: InternsFront, row: Row): Promise<void> {
  const { day = TODAY, workspaceId = workspace.id, key = KEY_A, model = 'm/1' } = row
  await store.sql`
    INSERT INTO activity (organization_id, day, workspace_id, key_hash, model,
      requests, tokens, output_tokens, cached_tokens, milliseconds, spent_nano, byok_nano, forfeited_nano)
    VALUES (${organizationId}, ${day}, ${workspaceId}, ${key}, ${model}, 3, 30, 12, 10, 5, 1000000001, 2, 500000000)`
}

function rowsOf(
  body: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string, string, string])[] {
  return (body['data'] as { date: string; workspace_id: string; key_hash: string; model: string }[]).map(
    (row) => [row.date, row.workspace_id, row.key_hash, row.model] as const,
  )
}
