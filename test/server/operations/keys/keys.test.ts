import t from 'tap'
import { insertKey } from '../../../../src/server/store/keys/api-keys.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { KEYS_PAGE } from '../../../../src/schemas/keys/key-limits.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'
import { must } from '../../../support/must.ts'
import { plantUsage, turnTo } from '../../../support/keys/key-usage.ts'
import { KEYS_OFFSET_MAX } from '../../../../src/schemas/keys/keys.ts'

/** For tests that look at their own keys alone. */
const shared = await openKeysFront(t)

const NOBODY = 'f'.repeat(64)
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('only management keys can read and change keys, in their own workspace and in others', async (t) => {
  const { call, make, intern, store, rotate } = shared
  const [
    {
      data: { hash },
      key,
    },
    elsewhere,
  ] = [await make(), await make({ workspace_id: 'other' })]
  const input = { internId: await intern(), organizationId: null }
  const internKey = must(await createInternKey(store, input, CLI)).key
  for (const wrong of [key, elsewhere.key, (await rotate(elsewhere.data.hash)).key, internKey]) {
    for (const [method, path] of [
      ['GET', '/keys'],
      ['GET', `/keys/${hash}`],
      ['PATCH', `/keys/${hash}`],
      ['DELETE', `/keys/${hash}`],
      ['POST', `/keys/${hash}/rotate`],
      ['GET', `/keys/${NOBODY}`],
      ['GET', '/keys?workspace_id=nowhere'],
    ] as const)
      t.match(
        await call(method, path, { key: wrong }),
        { status: 401, type: 'wrong_key_kind' },
        `${method} ${path}`,
      )
  }
})

t.test('keys.list 200: the keys of the organization, newest first, in pages', async (t) => {
  const { call, store, organizationId, workspace } = await openKeysFront(t)
  const input = {
    kind: 'inference',
    name: 'n',
    organizationId,
    workspaceId: workspace.id,
    rateLimitRpm: null,
    expiresAt: null,
  } as const
  const made: string[] = []
  for (let n = 0; n < KEYS_PAGE; n++)
    made.push(await store.sql.begin(async (tx) => (await insertKey(tx, input)).apiKey.hash))
  const page = async (offset: number): Promise<readonly unknown[]> => {
    const { status, body } = await call('GET', `/keys?offset=${offset}`)
    t.equal(status, 200)
    return (body['data'] as { hash: string }[]).map(({ hash }) => hash)
  }
  t.same(await page(0), [...made].reverse())
  // Before them all came the management key that asks.
  t.equal((await page(KEYS_PAGE)).length, 1)
  t.same(await page(KEYS_OFFSET_MAX), [])
})

t.test('lists disabled keys on request, and `workspace_id` selects the keys of a workspace', async (t) => {
  const { call, make } = await openKeysFront(t)
  const [here, there, off] = [
    await make(),
    await make({ workspace_id: 'other' }),
    await make({ workspace_id: 'other' }),
  ]
  await call('PATCH', `/keys/${off.data.hash}`, { body: { disabled: true } })
  const hashes = async (query: string): Promise<readonly unknown[]> =>
    ((await call('GET', `/keys?${query}`)).body['data'] as { hash: string; kind: string }[])
      .filter(({ kind }) => kind === 'inference')
      .map(({ hash }) => hash)
  t.same(await hashes(''), [there.data.hash, here.data.hash])
  t.same(await hashes('include_disabled=true'), [off.data.hash, there.data.hash, here.data.hash])
  t.same(await hashes('workspace_id=other'), [there.data.hash])
  t.same(await hashes(`workspace_id=${here.data.workspace_id}&include_disabled=false`), [here.data.hash])
})

t.test('keys.list 400: a workspace that is unknown or foreign, a number out of range', async (t) => {
  const { call, workspace, foreignKey } = shared
  t.match(await call('GET', '/keys?workspace_id=nowhere'), { status: 400, type: 'workspace_unknown' })
  t.match(await call('GET', `/keys?workspace_id=${workspace.id}`, { key: foreignKey }), {
    status: 400,
    type: 'workspace_unknown',
  })
  for (const query of [
    'offset=-1',
    'offset=x',
    `offset=${KEYS_OFFSET_MAX + 1}`,
    'include_disabled=maybe',
    'workspace_id=',
  ]) {
    t.match(await call('GET', `/keys?${query}`), { status: 400, type: 'query_invalid' }, query)
  }
})

t.test('keys.get 200: returns the usage of the current windows, and the remaining limit', async (t) => {
  const { make, look, store } = await openKeysFront(t)
  const {
    data: { hash },
  } = await make({ limit: 10, limit_reset: 'monthly' })
  await plantUsage(store, hash, { spent: 2_500_000_000, byok: 1_000_000_000, day: '2027-03-30' })
  const seen = async (day: string): Promise<unknown> => {
    await turnTo(store, day)
    const { usage, usage_daily, usage_weekly, usage_monthly, byok_usage, byok_usage_daily, limit_remaining } =
      await look(hash)
    return [usage, usage_daily, usage_weekly, usage_monthly, byok_usage, byok_usage_daily, limit_remaining]
  }
  t.same(await seen('2027-03-30'), [2.5, 2.5, 2.5, 2.5, 1, 1, 7.5])
  t.same(await seen('2027-03-31'), [2.5, 0, 2.5, 2.5, 1, 0, 7.5])
  t.same(await seen('2027-04-01'), [2.5, 0, 2.5, 0, 1, 0, 10], 'the same week in another month')
  t.same(await seen('2027-04-05'), [2.5, 0, 0, 0, 1, 0, 10])
  t.same(
    await seen('2027-03-29'),
    [2.5, 2.5, 2.5, 2.5, 1, 1, 7.5],
    'a calendar that was set back ends no window',
  )
})

t.test('the remaining limit includes BYOK spend if the key says so, and is never negative', async (t) => {
  const { make, look, store, call } = shared
  const {
    data: { hash },
  } = await make({ limit: 3 })
  await plantUsage(store, hash, { spent: 2_000_000_000, byok: 2_000_000_000 })
  t.equal((await look(hash)).limit_remaining, 1)
  await call('PATCH', `/keys/${hash}`, { body: { include_byok_in_limit: true } })
  t.equal((await look(hash)).limit_remaining, 0)
})

for (const title of [
  'keys.get 404: GET',
  'keys.update 404: PATCH',
  'keys.delete 404: DELETE',
  'keys.rotate 404: POST /rotate',
]) {
  const [method = '', rest = ''] = (title.split(': ')[1] ?? '').split(' ')
  t.test(
    `${title} of an unknown or revoked key or of another organization's key, with the same message`,
    async (t) => {
      const { call, make, foreignKey, works } = shared
      const [
        {
          data: { hash },
          key,
        },
        gone,
      ] = [await make(), await make()]
      await call('DELETE', `/keys/${gone.data.hash}`)
      const body = method === 'PATCH' || method === 'POST' ? { body: {} } : {}
      const paths = [NOBODY, gone.data.hash, 'x%00', hash.toUpperCase(), key]
      const reply = await Promise.all(paths.map((path) => call(method, `/keys/${path}${rest}`, body)))
      reply.push(await call(method, `/keys/${hash}${rest}`, { key: foreignKey, ...body }))
      const text = (answer: (typeof reply)[number]): unknown =>
        (answer.body['error'] as { message: string }).message
      t.same(
        reply.map((answer) => [answer.status, answer.type, text(answer)]),
        reply.map(() => [404, 'api_key_unknown', 'There is no such API key.']),
      )
      t.equal(await works(key), 200)
    },
  )
}

t.test(
  'keys.update 200: changes given members, removes those that are null, keeps the others, and fronts apply the change',
  async (t) => {
    const { call, make, works, look } = shared
    const {
      data: { hash },
      key,
    } = await make({ limit: 5, limit_reset: 'daily', rate_limit_rpm: 60, allowed_models: ['a/b'] })
    t.equal(await works(key), 200)
    const change = async (body: object) => {
      const { status, body: reply } = await call('PATCH', `/keys/${hash}`, { body })
      t.equal(status, 200)
      t.same(await look(hash), reply['data'])
      return reply['data']
    }
    t.match(await change({ name: 'other', disabled: true }), {
      name: 'other',
      disabled: true,
      limit: 5,
      limit_reset: 'daily',
      updated_at: INSTANT,
    })
    t.equal(await works(key), 401)
    t.match(await change({ disabled: false, limit: 7.5 }), {
      name: 'other',
      disabled: false,
      limit: 7.5,
      limit_reset: 'daily',
      rate_limit_rpm: 60,
    })
    t.equal(await works(key), 200)
    const nothing = { limit_reset: null, rate_limit_rpm: null, allowed_models: null }
    t.match(await change(nothing), { limit: 7.5, ...nothing })
    t.match(await change({ default_max_output_tokens: 99 }), { default_max_output_tokens: 99 })
    t.match(await change({ name: 'other' }), { default_max_output_tokens: 99 })
    const unlimited = {
      default_max_output_tokens: null,
      limit: null,
      limit_reset: 'weekly',
      allowed_models: [],
    }
    t.match(await change(unlimited), { limit_remaining: null, ...unlimited })
    t.match(await change({}), { name: 'other', limit_reset: 'weekly' })
  },
)

t.test('a new reset interval moves the limit, and the account records the newest change', async (t) => {
  const { call, make, store } = await openKeysFront(t)
  const {
    data: { hash },
  } = await make({ limit: 5 })
  const limits = async () => [...(await store.sql`SELECT span, limit_nano FROM account_limits`)]
  t.same(await limits(), [{ span: 'lifetime', limit_nano: '5000000000' }])
  await call('PATCH', `/keys/${hash}`, { body: { limit_reset: 'daily' } })
  t.same(await limits(), [{ span: 'daily', limit_nano: '5000000000' }])
  const [{ n, limits_epoch } = {}] =
    await store.sql`SELECT n, limits_epoch FROM epoch, accounts WHERE id = ${`k${hash}`}`
  t.same([Number(n) > 0, n], [true, limits_epoch])
  await call('PATCH', `/keys/${hash}`, { body: { limit: null } })
  t.same(await limits(), [])
  await call('PATCH', `/keys/${hash}`, { body: { limit: 0 } })
  t.same(await limits(), [{ span: 'daily', limit_nano: '0' }])
})

t.test('keys.update 400: an invalid member in the body', async (t) => {
  const { call, make } = shared
  const {
    data: { hash },
  } = await make()
  for (const body of [
    { name: 5 },
    { disabled: 'no' },
    { limit: -0.1 },
    { limit_reset: 'lifetime' },
    { allowed_models: ['*'] },
    '[]',
  ]) {
    t.match(
      await call('PATCH', `/keys/${hash}`, { body }),
      { status: 400, type: 'body_invalid' },
      JSON.stringify(body),
    )
  }
})

t.test(
  "keys.update 400: refuses another intern_id than the key's own and names the field, and accepts its own",
  async (t) => {
    const { call, make, intern } = shared
    const [first, second] = [await intern(), await intern()]
    const [{ data: plain }, { data: own }] = [await make(), await make({ intern_id: first })]
    const refused = {
      status: 400,
      type: 'body_invalid',
      body: { error: { metadata: { issues: [{ path: '/intern_id', expected: /intern_id/ }] } } },
    }
    t.match(await call('PATCH', `/keys/${plain.hash}`, { body: { intern_id: 'x' } }), refused)
    t.match(await call('PATCH', `/keys/${plain.hash}`, { body: { name: 'new', intern_id: first } }), refused)
    t.match(await call('PATCH', `/keys/${own.hash}`, { body: { intern_id: second } }), refused)
    const kept = { status: 200, body: { data: { name: 'new', intern_id: first } } }
    t.match(await call('PATCH', `/keys/${own.hash}`, { body: { name: 'new', intern_id: first } }), kept)
    t.match(await call('PATCH', `/keys/${plain.hash}`, { body: { intern_id: null } }), {
      status: 200,
      body: { data: { name: 'k' } },
    })
  },
)

t.test('keys.delete 200: the key is refused from then on, even when it deleted itself', async (t) => {
  const { call, make, works } = shared
  const [{ data, key }, own] = [await make(), await make({ kind: 'management' })]
  t.equal(await works(key), 200)
  t.match(await call('DELETE', `/keys/${data.hash}`), { status: 200, body: { deleted: true } })
  t.equal(await works(key), 401)
  t.equal((await call('DELETE', `/keys/${own.data.hash}`, { key: own.key })).status, 200)
  t.match(await call('GET', '/keys', { key: own.key }), { status: 401, type: 'key_unknown' })
})

t.test('audits every change with its actor, the values before and after, and never the key', async (t) => {
  const { call, make, rotate, store } = await openKeysFront(t)
  const {
    data: { hash },
    key,
  } = await make({ limit: 5 })
  await call('PATCH', `/keys/${hash}`, { body: { limit: 6 } })
  const rotated = await rotate(hash)
  await call('DELETE', `/keys/${hash}`)
  const events = await auditOf(store)
  const by = { actor: { kind: 'key', id: /^[0-9a-f]{64}$/ }, object_kind: 'key', outcome: 'changed' }
  t.match(events, [
    { ...by, operation: 'keys.create', object_id: hash, before: null, after: { limit: 5 } },
    { ...by, operation: 'keys.update', object_id: hash, before: { limit: 5 }, after: { limit: 6 } },
    {
      ...by,
      operation: 'keys.rotate',
      object_id: hash,
      before: { expires_at: null },
      after: { expires_at: rotated.previous.expires_at, successor: { hash: rotated.data.hash, limit: 6 } },
    },
    { ...by, operation: 'keys.delete', object_id: hash, after: null },
  ])
  for (const plain of [key, rotated.key]) t.notMatch(JSON.stringify(events), plain)
})
