import t from 'tap'
import { NO_CALL_LIMITS } from '../../../../src/schemas/limits/model-calls.ts'
import { openApiKeys } from '../../../../src/server/store/keys/api-key-management.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'
import { plantUsage, turnTo } from '../../../support/keys/key-usage.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'
import { must } from '../../../support/must.ts'

const shared = await openKeysFront(t)
// No day ends between the spending of a key and the look at it.
await turnTo(shared.store, '2024-02-28')

t.test('keys.get_current 200: every member that existing clients require', async (t) => {
  const { call, make, store, workspace, organizationId } = shared
  const {
    data: { hash, label },
    key,
  } = await make({
    limit: 5,
    include_byok_in_limit: true,
    rate_limit_rpm: 60,
    default_max_output_tokens: 64,
    allowed_models: ['a/b'],
  })
  await plantUsage(store, hash, { spent: 1_250_000_000, byok: 750_000_000 })
  const { status, body } = await call('GET', '/key', { key })
  t.equal(status, 200)
  t.same(body['data'], {
    label,
    limit: 5,
    limit_remaining: 3,
    limit_reset: null,
    include_byok_in_limit: true,
    usage: 1.25,
    usage_daily: 1.25,
    usage_weekly: 1.25,
    usage_monthly: 1.25,
    byok_usage: 0.75,
    byok_usage_daily: 0.75,
    byok_usage_weekly: 0.75,
    byok_usage_monthly: 0.75,
    is_free_tier: false,
    is_management_key: false,
    is_provisioning_key: false,
    workspace_id: workspace.id,
    organization_id: organizationId,
    creator_user_id: null,
    allowed_data_regions: [],
    free_model_daily_requests: { limit: -1, used: 0, remaining: -1 },
    rate_limit: { requests: 60, interval: '1m', note: 'Requests a minute; -1: no limit.' },
    hash,
    kind: 'inference',
    rate_limit_burst: null,
    ...NO_CALL_LIMITS,
    default_max_output_tokens: 64,
    allowed_models: ['a/b'],
    scopes: null,
  })
})

t.test('every kind of key can read itself', async (t) => {
  const { call, make, intern, store } = shared
  const management = await make({ kind: 'management' })
  t.match((await call('GET', '/key', { key: management.key })).body, {
    data: { is_management_key: true, is_provisioning_key: true, workspace_id: null },
  })
  const input = {
    internId: await intern(),
    organizationId: null,
    expiresAt: new Date('2099-01-01T00:00:00Z'),
  }
  const { key } = must(await createInternKey(store, input, CLI))
  t.match((await call('GET', '/key', { key })).body, {
    data: { kind: 'intern', is_management_key: false, expires_at: '2099-01-01T00:00:00.000Z' },
  })
})

t.test('while the store is unavailable, key operations get 500 with a retry time', async (t) => {
  const away = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'away' })
  t.teardown(() => away.close())
  const apiKeys = openApiKeys({ store: away, publish: () => Promise.resolve(), rateLimitRpm: null })
  const { call } = await openInternsFront(t, { apiKeys })
  const hash = 'f'.repeat(64)
  for (const [method, path, body] of [
    ['GET', '/key'],
    ['GET', '/keys'],
    ['POST', '/keys', { name: 'k' }],
    ['GET', `/keys/${hash}`],
    ['PATCH', `/keys/${hash}`, {}],
    ['DELETE', `/keys/${hash}`],
    ['POST', `/keys/${hash}/rotate`, {}],
  ] as const) {
    const answer = await call(method, path, body === undefined ? {} : { body })
    t.match(answer, { status: 500, type: 'store_unavailable' }, `${method} ${path}`)
    t.ok(Number(answer.headers.get('retry-after')) >= 1)
  }
})

t.test('a key created without a rate has the operator default, and one with null has none', async (t) => {
  const { store, organizationId } = shared
  const apiKeys = openApiKeys({ store, publish: () => Promise.resolve(), rateLimitRpm: 120 })
  const input = {
    kind: 'inference',
    name: 'k',
    organizationId,
    workspace: 'default',
    limitNano: null,
    limitReset: null,
    countsByok: false,
    allowedModels: null,
    scopes: null,
    internId: null,
    creatorUserId: null,
    externalUser: null,
    expiresAt: null,
  } as const
  const by = { ...CLI, operation: 'keys.create' }
  t.match(await apiKeys.create(input, by), { ok: true, value: { apiKey: { rateLimitRpm: 120 } } })
  t.match(await apiKeys.create({ ...input, rateLimitRpm: null }, by), {
    ok: true,
    value: { apiKey: { rateLimitRpm: null } },
  })
})
