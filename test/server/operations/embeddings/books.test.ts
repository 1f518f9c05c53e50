/**
 * Calls over real sockets, with their money in real books: purses, journal, flushes, the ledger in Postgres.
 */
import t, { type Test } from 'tap'
import { organizationAccount, workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { createAccess } from '../../../../src/server/access/access.ts'
import type { Span } from '../../../../src/server/ports/money/money.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { openEmbeddings, type EmbeddingsReply } from '../../../support/embeddings/embeddings-front.ts'
import { setLimit, turnTo } from '../../../support/money/money.ts'
import { must } from '../../../support/must.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { answers, refuses } from '../../../support/embeddings/provider-behaviours.ts'
import { openRealSpend } from '../../../support/money/real-spend.ts'

waitLong()

const ONE = { model: 'acme/one', input: 'one two three' }
/** Nano-USD of four tokens at one USD per million, and of the bound of thirteen bytes. */
const COST = 4_000
const BOUND = (13 + 16) * 1_000

type Limits = Readonly<Partial<Record<'organization' | 'workspace' | 'key', readonly [Span, number]>>>

/** One front whose one key has these limits. */
async function stand(t: Test, limits: Limits = {}) {
  const store = await openTestStore(t, 6)
  // No window of a limit ends while it is spent.
  await turnTo(store.sql, '2024-02-28')
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const request = { organizationId: organization.id, workspaceId: workspace.id } as const
  const { apiKey, key } = must(await createKey(store, request, CLI))
  const accounts = {
    organization: organizationAccount(organization.id),
    workspace: workspaceAccount(workspace.id),
    key: `k${apiKey.hash}`,
  }
  for (const kind of ['organization', 'workspace', 'key'] as const) {
    const limit = limits[kind]
    if (limit !== undefined) await setLimit(store.sql, accounts[kind], ...limit)
  }
  const feed = {
    epoch: 1,
    get lastGoodPollAtMs() {
      return Date.now()
    },
    subscribe: () => () => undefined,
  }
  const spend = await openRealSpend(t, store)
  const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 60_000, now: Date.now })
  const front = await openEmbeddings(t, { spend, access })
  const authorization = `Bearer ${key}`
  return {
    ...front,
    store,
    authorization,
    accounts,
    call: (body: object): Promise<EmbeddingsReply> => front.post({ ...body }, { authorization }),
    books: () => spend.books(),
  }
}

t.test(
  'the ledger has one row for each answered call, at its endpoint’s price, and no row for a failed call',
  async (t) => {
    const { call, first, second, url, authorization, untilSettled, books } = await stand(t)
    const { headers } = await call(ONE)
    first.script(refuses(500))
    await call({ ...ONE, model: 'acme/embed' })
    first.script(refuses(500))
    second.script(refuses(500))
    t.equal((await call({ ...ONE, model: 'acme/embed' })).status, 502)
    first.script(answers({ usage: null }))
    await call(ONE)
    let answerNow: () => void = () => undefined
    first.script((exchange) => void (answerNow = () => answers()(exchange)))
    const client = new AbortController()
    const sent = {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(ONE),
    }
    const left = fetch(`${url}/api/v1/embeddings`, { ...sent, signal: client.signal }).catch(() => null)
    await first.arrived(5)
    client.abort()
    await left
    answerNow()
    await untilSettled(5)
    const reported = await books()
    t.same(reported.rows, [
      ['usage', COST, 'first'],
      ['usage', COST / 2, 'second'],
      ['estimated', COST, 'first'],
      ['usage', COST, 'first'],
    ])
    t.match(reported.ledger[0], { request_id: headers.get('x-request-id'), tokens: 4, model: 'acme/one' })
    t.same([reported.leases, reported.imbalances], [0, []])
  },
)

t.test(
  'caps the charge when the provider reports more than the bound, and books the rest as an overrun',
  async (t) => {
    const { call, first, store, accounts, books } = await stand(t, { key: ['lifetime', 10 * BOUND] })
    first.script(answers({ usage: { prompt_tokens: 1_000, total_tokens: 1_000 } }))
    t.equal((await call(ONE)).body.usage?.cost, BOUND / 1e9)
    const reported = await books()
    t.same(reported.rows, [
      ['usage', BOUND, 'first'],
      ['overrun', 1_000_000 - BOUND, 'first'],
    ])
    t.same([reported.leases, reported.imbalances], [0, []])
    const [key] =
      await store.sql`SELECT lifetime_spent_nano::int AS spent FROM accounts WHERE id = ${accounts.key}`
    t.equal(key?.['spent'], BOUND)
  },
)

const tightest = [
  [
    'organization',
    'lifetime',
    402,
    { error_type: 'credit_exhausted', limit_source: 'credit', scope: 'organization' },
  ],
  [
    'key',
    'monthly',
    403,
    { error_type: 'key_limit_exceeded', limit_source: 'key_limit', scope: 'key', interval: 'monthly' },
  ],
  [
    'workspace',
    'daily',
    403,
    { error_type: 'budget_exceeded', limit_source: 'budget', scope: 'workspace', interval: 'daily' },
  ],
] as const
for (const [kind, span, status, metadata] of tightest) {
  t.test(`the ${kind}'s limit, if the tightest, is used up, never exceeded, and named`, async (t) => {
    const wide = {
      organization: ['lifetime', 1e9],
      key: ['monthly', 1e9],
      workspace: ['daily', 1e9],
    } as const
    const { call, first, books } = await stand(t, { ...wide, [kind]: [span, 2 * BOUND] })
    let paid = 0
    let reply = await call(ONE)
    for (; reply.status === 200; reply = await call(ONE)) paid++
    t.equal(reply.status, status)
    t.match(reply.body.error, {
      message: /of 0\.000058 USD is used.* and this call may cost up to 0\.000029/,
      metadata: { ...metadata, limit: 0.000_058 },
    })
    t.equal(typeof reply.body.error?.metadata['reset_at'], span === 'lifetime' ? 'undefined' : 'string')
    t.equal(first.calls.length, paid, 'what is refused is not sent')
    // One that costs no more than this is left.
    t.equal(paid, 1 + Math.floor(BOUND / COST))
    const reported = await books()
    t.same([reported.rows.length, reported.leases, reported.imbalances], [paid, 0, []])
  })
}
