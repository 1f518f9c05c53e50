import t from 'tap'
import { hashOfKey, KEY_PREFIXES } from '../../../../src/schemas/keys/api-keys.ts'
import { ALLOWED_MODELS_MAX } from '../../../../src/schemas/keys/key-limits.ts'
import { REPORTED_TOKENS_MAX } from '../../../../src/schemas/inference/token-limits.ts'
import { NO_CALL_LIMITS } from '../../../../src/schemas/limits/model-calls.ts'
import {
  DEFAULT_OUTPUT_TOKENS_MIN,
  PARALLEL_MAX,
  RATE_LIMIT_TPM_MAX,
} from '../../../../src/schemas/limits/rate-limits.ts'
import { NAME_CHARS_MAX } from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { USD_MAX } from '../../../../src/schemas/money/money-limits.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'
import { ALLOWED_MODEL_CHARS_MAX, KEY_USER_CHARS_MAX } from '../../../../src/schemas/keys/keys.ts'

/** For tests that look at their own keys alone. */
const shared = await openKeysFront(t)

const NOBODY = 'f'.repeat(64)
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('keys.create 201: returns every member that clients require, and the key only once', async (t) => {
  const { call, make, workspace, works } = shared
  const { data, key } = await make({
    name: 'Team',
    external: { user: 'u-1', api_key: 'theirs' },
    creator_user_id: 'ann',
    unknown: 'ignored',
  })
  const { hash, label, created_at, ...others } = data
  t.equal(hash, hashOfKey(key))
  t.match(key, new RegExp(`^${KEY_PREFIXES.inference}[A-Za-z0-9_-]{43}$`))
  t.match(label, /^sk-sluice-v1-.{3}\.\.\..{3}$/)
  t.match(created_at, INSTANT)
  t.same(others, {
    name: 'Team',
    workspace_id: workspace.id,
    disabled: false,
    limit: null,
    limit_remaining: null,
    limit_reset: null,
    include_byok_in_limit: false,
    usage: 0,
    usage_daily: 0,
    usage_weekly: 0,
    usage_monthly: 0,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    creator_user_id: 'ann',
    external_user: 'u-1',
    updated_at: null,
    kind: 'inference',
    rate_limit_rpm: null,
    rate_limit_burst: null,
    ...NO_CALL_LIMITS,
    allowed_models: null,
    scopes: null,
    intern_id: null,
  })
  t.equal(await works(key), 200)
  t.notMatch(JSON.stringify((await call('GET', '/keys')).body), key)
})

t.test('keys.create 201: a disabled key is refused until it is enabled', async (t) => {
  const { call, make, works } = shared
  const { data, key } = await make({ disabled: true })
  t.equal(data.disabled, true)
  t.equal(await works(key), 401)
  const enabled = await call('PATCH', `/keys/${data.hash}`, { body: { disabled: false } })
  t.equal(enabled.status, 200)
  t.equal(await works(key), 200)
})

t.test('a key keeps its values: limit, resets, models, rate, expiry, workspace', async (t) => {
  const { make, look, store, other } = shared
  const input = {
    limit: 0.1 + 0.2,
    limit_reset: 'weekly',
    include_byok_in_limit: true,
    expires_at: '2099-01-01T00:00:00+02:00',
    workspace_id: 'other',
    rate_limit_rpm: 60,
    max_parallel: 1,
    rate_limit_tpm: 1,
    default_max_output_tokens: 16,
    allowed_models: ['openai/*', 'cohere/embed-v4.0'],
  }
  const { data } = await make(input)
  t.match(data, {
    ...input,
    limit: 0.3,
    limit_remaining: 0.3,
    expires_at: '2098-12-31T22:00:00.000Z',
    workspace_id: other.id,
  })
  t.same(await look(data.hash), data)
  t.match(
    await store.sql`SELECT span, limit_nano FROM account_limits WHERE account_id = ${`k${data.hash}`}`,
    [{ span: 'weekly', limit_nano: '300000000' }],
  )
})

t.test('a management key is made for the organization', async (t) => {
  const { make, call, store } = shared
  const { data, key } = await make({ kind: 'management' })
  t.match(await store.sql`SELECT workspace_id FROM api_keys WHERE hash = ${data.hash}`, [
    { workspace_id: null },
  ])
  t.equal((await call('GET', '/keys', { key })).status, 200)
  t.match(await call('POST', '/keys', { body: { name: 'k', kind: 'management', workspace_id: 'default' } }), {
    status: 400,
    type: 'body_invalid',
  })
})

t.test('keys.create 400: names each member that is missing or invalid', async (t) => {
  const { call } = shared
  const wrong: readonly [object, string][] = [
    [{ name: undefined }, '/name'],
    [{ name: ' ' }, '/name'],
    [{ name: 'x'.repeat(NAME_CHARS_MAX + 1) }, '/name'],
    [{ kind: 'robot' }, '/kind'],
    [{ limit: -1 }, '/limit'],
    [{ limit: '5' }, '/limit'],
    [{ limit: USD_MAX + 1 }, '/limit'],
    [{ limit_reset: 'hourly' }, '/limit_reset'],
    [{ expires_at: '2099-01-01T00:00:00' }, '/expires_at'],
    [{ expires_at: '2099-02-30T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '9999-12-31T23:59:59-00:01' }, '/expires_at'],
    [{ rate_limit_rpm: 0 }, '/rate_limit_rpm'],
    [{ rate_limit_rpm: 1.5 }, '/rate_limit_rpm'],
    [{ max_parallel: 0 }, '/max_parallel'],
    [{ max_parallel: PARALLEL_MAX + 1 }, '/max_parallel'],
    [{ rate_limit_tpm: 0 }, '/rate_limit_tpm'],
    [{ rate_limit_tpm: RATE_LIMIT_TPM_MAX + 1 }, '/rate_limit_tpm'],
    [{ default_max_output_tokens: DEFAULT_OUTPUT_TOKENS_MIN - 1 }, '/default_max_output_tokens'],
    [{ default_max_output_tokens: REPORTED_TOKENS_MAX + 1 }, '/default_max_output_tokens'],
    [{ allowed_models: ['gpt'] }, '/allowed_models/0'],
    [{ allowed_models: ['a/b*'] }, '/allowed_models/0'],
    [{ allowed_models: Array.from({ length: ALLOWED_MODELS_MAX + 1 }, () => 'a/b') }, '/allowed_models'],
    [{ allowed_models: [`a/${'b'.repeat(ALLOWED_MODEL_CHARS_MAX)}`] }, '/allowed_models/0'],
    [{ external: {} }, '/external/user'],
    [{ external: { user: 'u'.repeat(KEY_USER_CHARS_MAX + 1) } }, '/external/user'],
    [{ creator_user_id: 'a\u0000' }, '/creator_user_id'],
  ]
  for (const [body, path] of wrong) {
    const refused = await call('POST', '/keys', { body: { name: 'k', ...body } })
    t.match(
      refused,
      { status: 400, type: 'body_invalid', body: { error: { metadata: { issues: [{ path }] } } } },
      JSON.stringify(body).slice(0, 60),
    )
  }
  for (const workspace_id of ['nowhere', 'no\u0000where', NOBODY]) {
    t.match(await call('POST', '/keys', { body: { name: 'k', workspace_id } }), {
      status: 404,
      type: 'workspace_unknown',
    })
  }
})

t.test(
  'refuses an Idempotency-Key, because a repetition could not return the key, and creates nothing',
  async (t) => {
    const { call, make, store } = shared
    const { data } = await make()
    const before = [...(await store.sql`SELECT count(*) FROM api_keys`)]
    const headers = { 'idempotency-key': 'once' }
    for (const path of ['/keys', `/keys/${data.hash}/rotate`]) {
      const refused = await call('POST', path, { body: { name: 'k' }, headers })
      t.match(refused, {
        status: 400,
        type: 'header_invalid',
        body: { error: { metadata: { issues: [{ path: '/idempotency-key' }] } } },
      })
    }
    t.same([...(await store.sql`SELECT count(*) FROM api_keys`)], before)
  },
)
