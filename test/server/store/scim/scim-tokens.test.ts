import t from 'tap'
import { hashOfKey, isKeyShaped } from '../../../../src/schemas/keys/api-keys.ts'
import { createAccess } from '../../../../src/server/access/access.ts'
import { openApiKeys } from '../../../../src/server/store/keys/api-key-management.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { openEpochFeed } from '../../../../src/server/store/base/epoch-feed.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import {
  createScimToken,
  listScimTokens,
  revokeScimToken,
  type ScimTokenInput,
} from '../../../../src/server/store/scim/scim-tokens.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { testHints } from '../../../support/stores/hints.ts'
import { SILENT } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { SCIM_TOKENS_MAX } from '../../../../src/schemas/scim/scim-limits.ts'

type Tap = Parameters<typeof openTestStore>[0]

waitLong()

async function openTokens(t: Tap) {
  const store = await openTestStore(t)
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'o' }))
  const make = (more: Partial<ScimTokenInput> = {}) =>
    createScimToken(store, { organizationId, name: 'Okta', expiresAt: null, ...more }, CLI)
  return { store, organizationId, workspace, make }
}

t.test('a plain token has its prefix and 256 bits, and the store has only its hash', async (t) => {
  const { store, make } = await openTokens(t)
  const { key, token } = must(await make())
  t.match(key, /^sk-sluice-scim-v1-[A-Za-z0-9_-]{43}$/)
  t.ok(isKeyShaped(key))
  const [row] = await store.sql<
    { text: string; hash: string }[]
  >`SELECT scim_tokens::text AS text, hash FROM scim_tokens`
  t.equal(row?.hash, hashOfKey(key))
  t.notMatch(row?.text, key.slice(-43))
  t.match(token, { name: 'Okta', label: /^sk-sluice-scim-v1-.{3}\.\.\..{3}$/, expiresAt: null })
})

t.test('a front loads tokens and API keys by one statement, each with its kind', async (t) => {
  const { store, organizationId, workspace, make } = await openTokens(t)
  const expiresAt = new Date('2099-01-01T00:00:00Z')
  const { key } = must(await make({ expiresAt }))
  const input = { organizationId, workspaceId: workspace.id, rateLimitRpm: 60 } as const
  const other = must(await createKey(store, input, CLI))
  const loaded = must(await openKeyStore(store).load([hashOfKey(key), other.apiKey.hash, 'f'.repeat(64)]))
  t.equal(loaded.length, 2)
  t.match(
    loaded.find(({ kind }) => kind === 'scim'),
    {
      hash: hashOfKey(key),
      name: 'Okta',
      organizationId,
      workspaceId: null,
      defaultWorkspaceId: workspace.id,
      internId: null,
      rateLimitRpm: null,
      isDisabled: false,
      expiresAtMs: expiresAt.getTime(),
      allowedModels: null,
      scopes: null,
    },
  )
  t.match(
    loaded.find(({ kind }) => kind === 'inference'),
    { hash: other.apiKey.hash, workspaceId: workspace.id, rateLimitRpm: 60 },
  )
})

t.test('tokens are not listed with the API keys, and cannot be found there by hash', async (t) => {
  const { store, organizationId, make } = await openTokens(t)
  const { key } = must(await make())
  const keys = openApiKeys({ store, publish: () => Promise.resolve(), rateLimitRpm: null })
  t.same(must(await keys.list({ organizationId, workspace: null, includesDisabled: true, offset: 0 })), [])
  t.match(await keys.get({ organizationId: null, hash: hashOfKey(key) }), {
    failure: { name: 'api_key_unknown' },
  })
})

t.test('a revoked token is not loaded or listed, and fronts that know it drop it', async (t) => {
  const { store, organizationId, make } = await openTokens(t)
  const { key, token, change } = must(await make())
  const hints = testHints()
  const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: 60_000 })
  const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 300_000, now: Date.now })
  t.teardown(async () => {
    access.close()
    await feed.close()
  })
  await feed.poll()
  t.match(await access.authenticate(`Bearer ${key}`), { ok: true, value: { kind: 'scim' } })
  const revoked = must(await revokeScimToken(store, token.id, CLI))
  t.match(revoked, { n: change.n + 1, kind: 'key', id: hashOfKey(key) })
  await hints.publish(revoked)
  t.match(await access.authenticate(`Bearer ${key}`), { failure: { name: 'key_unknown' } })
  t.same(must(await listScimTokens(store, organizationId)), [])
})

t.test('tokens are listed newest first, of one organization or of all', async (t) => {
  const { store, organizationId, make } = await openTokens(t)
  const foreign = must(await createOrganization(store, { name: 'foreign' })).organization.id
  const ids: string[] = []
  for (const more of [{ name: 'one' }, { name: 'two', expiresAt: new Date(0) }, { organizationId: foreign }])
    ids.push(must(await make(more)).token.id)
  t.same(
    must(await listScimTokens(store, null)).map(({ id }) => id),
    ids.toReversed(),
  )
  t.same(
    must(await listScimTokens(store, organizationId)).map(({ name }) => name),
    ['two', 'one'],
  )
})

t.test(
  'creating and revoking a token is audited once each, without the token; repeated and unknown ones add no event',
  async (t) => {
    const { store, make } = await openTokens(t)
    const { key, token } = must(await make())
    for (let n = 0; n < 2; n++) must(await revokeScimToken(store, token.id, CLI))
    for (const id of [newId(), 'no-id', ''])
      t.match(await revokeScimToken(store, id, CLI), { failure: { name: 'scim_token_unknown' } })
    const events = await auditOf(store)
    const after = { name: 'Okta', hash: hashOfKey(key), expires_at: null }
    t.match(events, [
      {
        operation: 'cli.scim-tokens-create',
        object_kind: 'scim_token',
        object_id: token.id,
        before: null,
        after,
      },
      {
        operation: 'cli.scim-tokens-revoke',
        object_kind: 'scim_token',
        object_id: token.id,
        before: after,
        after: null,
      },
    ])
    t.equal(events.length, 2)
    t.notMatch(JSON.stringify(events), key.slice(-43))
  },
)

t.test(
  'an organization has a maximum of live tokens, even for racing calls; expired and revoked ones make room',
  async (t) => {
    const { store, organizationId, make } = await openTokens(t)
    must(await make({ expiresAt: new Date(0) }))
    const made = await Promise.all(Array.from({ length: SCIM_TOKENS_MAX + 5 }, () => make()))
    t.equal(made.filter(({ ok }) => ok).length, SCIM_TOKENS_MAX)
    t.match(await make(), { failure: { name: 'scim_tokens_full', fields: { limit: SCIM_TOKENS_MAX } } })
    const [first] = must(await listScimTokens(store, organizationId))
    must(await revokeScimToken(store, first?.id ?? '', CLI))
    t.match(await make(), { ok: true })
    t.match(await make({ organizationId: newId() }), { failure: { name: 'organization_unknown' } })
  },
)
