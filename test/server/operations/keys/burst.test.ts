import t from 'tap'
import { RATE_LIMIT_RPM_MAX } from '../../../../src/schemas/limits/rate-limits.ts'
import { openApiKeys } from '../../../../src/server/store/keys/api-key-management.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'
import { must } from '../../../support/must.ts'

const shared = await openKeysFront(t)

t.test('keys.create 201: a key has the requested burst, from 1 to its limit', async (t) => {
  const { make, look, works } = shared
  for (const rate_limit_burst of [1, 60, null]) {
    const { data, key } = await make({ rate_limit_rpm: 60, rate_limit_burst })
    t.match(data, { rate_limit_rpm: 60, rate_limit_burst })
    t.match(await look(data.hash), { rate_limit_burst })
    t.equal(await works(key), 200)
  }
})

t.test('keys.create 400: refuses a burst above the limit or without one, and suggests a fix', async (t) => {
  const { call } = shared
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ rate_limit_rpm: 60, rate_limit_burst: 61 }, /1 to 60, or a higher `rate_limit_rpm`/],
    [{ rate_limit_burst: 5 }, /`rate_limit_rpm`/],
    [{ rate_limit_rpm: null, rate_limit_burst: 5 }, /`rate_limit_rpm`/],
    [{ rate_limit_rpm: 60, rate_limit_burst: 0 }, /1/],
    [{ rate_limit_rpm: 60, rate_limit_burst: 1.5 }, /integer/],
    [{ rate_limit_rpm: 60, rate_limit_burst: RATE_LIMIT_RPM_MAX + 1 }, new RegExp(`${RATE_LIMIT_RPM_MAX}`)],
  ]
  for (const [body, expected] of rows) {
    const refused = await call('POST', '/keys', { body: { name: 'k', ...body } })
    const issues = [{ path: '/rate_limit_burst', expected }]
    t.match(
      refused,
      { status: 400, type: 'body_invalid', body: { error: { metadata: { issues } } } },
      JSON.stringify(body),
    )
  }
})

t.test("a burst without a limit is checked against the operator's limit", async (t) => {
  const { store, organizationId } = shared
  const apiKeys = openApiKeys({ store, publish: () => Promise.resolve(), rateLimitRpm: 120 })
  const made = (rateLimitBurst: number) =>
    apiKeys.create(
      {
        kind: 'inference',
        name: 'k',
        organizationId,
        workspace: 'default',
        internId: null,
        limitNano: null,
        limitReset: null,
        countsByok: false,
        rateLimitBurst,
        allowedModels: null,
        scopes: null,
        creatorUserId: null,
        externalUser: null,
        expiresAt: null,
      },
      { ...CLI, operation: 'keys.create' },
    )
  t.match(await made(120), { ok: true, value: { apiKey: { rateLimitRpm: 120, rateLimitBurst: 120 } } })
  t.match(await made(121), { ok: false, failure: { name: 'body_invalid' } })
})

t.test(
  'keys.update: a burst can be changed, a lower limit reduces it, and removing the limit removes it',
  async (t) => {
    const { call, make, store } = shared
    const { data } = await make({ rate_limit_rpm: 600, rate_limit_burst: 100 })
    const change = (body: object) => call('PATCH', `/keys/${data.hash}`, { body })
    const becomes = async (body: object, rate: number | null, burst: number | null): Promise<void> => {
      const { status, body: answer } = await change(body)
      t.equal(status, 200)
      t.match(answer['data'], { rate_limit_rpm: rate, rate_limit_burst: burst }, JSON.stringify(body))
      t.match(must(await openKeyStore(store).load([data.hash])), [
        { rateLimitRpm: rate, rateLimitBurst: burst },
      ])
    }
    await becomes({ rate_limit_burst: 300 }, 600, 300)
    await becomes({ name: 'other' }, 600, 300)
    await becomes({ rate_limit_rpm: 60 }, 60, 60)
    await becomes({ rate_limit_rpm: 600 }, 600, 60)
    await becomes({ rate_limit_rpm: 30, rate_limit_burst: 30 }, 30, 30)
    const above = [{ path: '/rate_limit_burst', expected: /1 to 30/ }]
    t.match(await change({ rate_limit_burst: 31 }), {
      status: 400,
      type: 'body_invalid',
      body: { error: { metadata: { issues: above } } },
    })
    t.match(await change({ rate_limit_rpm: 20, rate_limit_burst: 21 }), { status: 400 })
    t.match(await change({ rate_limit_rpm: null, rate_limit_burst: 5 }), { status: 400 })
    await becomes({}, 30, 30)
    await becomes({ rate_limit_burst: null }, 30, null)
    await becomes({ rate_limit_burst: 7 }, 30, 7)
    await becomes({ rate_limit_rpm: null }, null, null)
    await becomes({ rate_limit_rpm: 30 }, 30, null)
    t.match((await auditOf(store)).at(-1), {
      before: { rate_limit_rpm: null, rate_limit_burst: null },
      after: { rate_limit_rpm: 30, rate_limit_burst: null },
    })
  },
)

t.test('a limit that a node with an older version lowers reduces the burst too', async (t) => {
  const { make, look, store, rotate } = shared
  const { data } = await make({ rate_limit_rpm: 600, rate_limit_burst: 100 })
  await store.sql`UPDATE api_keys SET rate_limit_rpm = 20 WHERE hash = ${data.hash}`
  t.match(await look(data.hash), { rate_limit_rpm: 20, rate_limit_burst: 20 })
  t.match(must(await openKeyStore(store).load([data.hash])), [{ rateLimitBurst: 20 }])
  t.match((await rotate(data.hash)).data, { rate_limit_rpm: 20, rate_limit_burst: 20 })
})
