/** Calls by a workspace's own credentials, with their money in real books. B2.9, B2.10; design §6.4. */
import t, { type Test } from 'tap'
import { organizationAccount, workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { createAccess } from '../../../../src/server/access/access.ts'
import { openBudgetPorts } from '../../../../src/server/main/front-ports.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { openEndpoints, type Answer } from '../../../support/endpoints/endpoints-front.ts'
import { MANAGEMENT_KEY } from '../../../support/front.ts'
import { limitCredit, setLimit } from '../../../support/money/money.ts'
import { must, present } from '../../../support/must.ts'
import { openRealSpend, type RealSpend } from '../../../support/money/real-spend.ts'
import { waitLong } from '../../../support/stores/postgres.ts'

waitLong()

/**
 * Cost of `some text` at the catalogue's price, and its maximum, in nano-USD: three tokens, and one token per
 * byte plus 16 around the text.
 */
const COST = 3 * 500
const BOUND = (9 + 16) * 500
/** The same at the price that the private endpoint declares. */
const OWN_COST = 3 * 1_000
const OWN_BOUND = (9 + 16) * 1_000

/** A front with one paying key, in a workspace that has its own key for the provider `keyed`. */
async function stand(t: Test) {
  const opened: RealSpend[] = []
  const front = await openEndpoints(t, {
    async more(_, { store, hints, feed, access }) {
      const spend = await openRealSpend(t, store, feed)
      opened.push(spend)
      const paid = createAccess({ keys: openKeyStore(store), feed, graceMs: 60_000, now: Date.now })
      t.teardown(() => paid.close())
      const authenticate = (header: string) =>
        (header === `Bearer ${MANAGEMENT_KEY}` ? access : paid).authenticate(header)
      return { access: { ...access, authenticate }, ports: { spend, ...openBudgetPorts({ store, hints }) } }
    },
  })
  const { store, organizationId, workspaceId, call, embed, vault } = front
  const input = { organizationId, workspaceId } as const
  const { apiKey, key } = must(await createKey(store, input, CLI))
  await vault.put('keyed_api_key', 'sk-own-canary-0123456789', ['localhost'])
  const accounts = {
    organization: organizationAccount(organizationId),
    workspace: workspaceAccount(workspaceId),
    key: `k${apiKey.hash}`,
  }
  const spend = present(opened[0])
  return {
    ...front,
    accounts,
    books: () => spend.books(),
    byOwnKey: (): Promise<Answer> => embed('acme/keyed', 0, { key, body: { provider: { only: ['keyed'] } } }),
    byOwnEndpoint: (): Promise<Answer> => embed('acme/own', 0, { key }),
    byOperator: (): Promise<Answer> => embed('acme/embed', 0, { key }),
    budget: async (nano: number, doesCountByok: boolean): Promise<void> => {
      const { status } = await call('PUT', `/workspaces/${workspaceId}/budgets/lifetime`, {
        limit_usd: nano / 1e9,
        include_byok_in_budgets: doesCountByok,
      })
      t.equal(status, 200)
    },
    /** For each account its spend, and its spend by the workspace's own credentials. */
    counted: async () => {
      const rows = await store.sql<{ id: string; spent: number; byok: number }[]>`
        SELECT id, lifetime_spent_nano::int AS spent, lifetime_byok_nano::int AS byok FROM accounts`
      const of = (id: string): readonly [number, number] => {
        const { spent, byok } = present(rows.find((row) => row.id === id))
        return [spent, byok]
      }
      return {
        organization: of(accounts.organization),
        workspace: of(accounts.workspace),
        key: of(accounts.key),
      }
    },
  }
}

t.test(
  'when own credentials do not count, their calls take nothing from a budget and are counted separately',
  async (t) => {
    const { active, budget, byOwnKey, byOwnEndpoint, byOperator, books, counted } = await stand(t)
    await active()
    await budget(BOUND, false)
    for (const _ of [1, 2, 3])
      t.match(await byOwnKey(), { status: 200, body: { usage: { is_byok: true, cost: COST / 1e9 } } })
    t.match(await byOwnEndpoint(), { status: 200, body: { usage: { is_byok: true, cost: OWN_COST / 1e9 } } })
    t.match(
      await byOperator(),
      { status: 200, body: { usage: { is_byok: false } } },
      'all of the budget is left',
    )
    t.match(await byOperator(), {
      status: 403,
      body: { error: { metadata: { error_type: 'budget_exceeded', spend: COST / 1e9 } } },
    })
    t.match(await byOwnKey(), { status: 200 }, 'a budget that is spent is none of theirs')
    const reported = await books()
    const byok = 4 * COST + OWN_COST
    t.same(await counted(), { organization: [COST, byok], workspace: [COST, byok], key: [COST, byok] })
    t.same(reported.ledger.filter(({ is_byok: isByok }) => isByok).length, 5)
    t.same([reported.leases, reported.imbalances], [0, []])
  },
)

for (const way of ['byOwnKey', 'byOwnEndpoint'] as const) {
  const [bound, cost] = way === 'byOwnKey' ? [BOUND, COST] : [OWN_BOUND, OWN_COST]
  t.test(`when own credentials count, calls above the budget are refused: ${way}`, async (t) => {
    const { active, budget, [way]: embed, books, counted, keyed, upstream } = await stand(t)
    await active()
    const probes = upstream.calls.length
    await budget(2 * bound, true)
    let paid = 0
    let reported = await embed()
    for (; reported.status === 200 && paid < 99; reported = await embed()) paid++
    t.match(reported, {
      status: 403,
      body: {
        error: {
          metadata: { error_type: 'budget_exceeded', limit_source: 'budget', limit: (2 * bound) / 1e9 },
        },
      },
    })
    t.equal(paid, 1 + Math.floor(bound / cost), 'one that costs no more than this is left')
    t.equal(keyed.calls.length + upstream.calls.length - probes, paid, 'what is refused is not sent')
    const { leases, imbalances } = await books()
    t.same(await counted(), {
      organization: [0, paid * cost],
      workspace: [0, paid * cost],
      key: [0, paid * cost],
    })
    t.same([leases, imbalances], [0, []])
  })
}

t.test(
  "own credentials are never charged to the organization's credit, and still work when it is used up",
  async (t) => {
    const {
      store,
      organizationId,
      accounts,
      active,
      budget,
      byOwnKey,
      byOwnEndpoint,
      byOperator,
      books,
      counted,
    } = await stand(t)
    await active()
    await limitCredit(store.sql, organizationId, BOUND)
    await setLimit(store.sql, accounts.key, 'lifetime', 1e9)
    await budget(1e9, true)
    t.match(await byOperator(), { status: 200 })
    t.match(await byOperator(), {
      status: 402,
      body: { error: { metadata: { error_type: 'credit_exhausted', spend: COST / 1e9 } } },
    })
    for (const embed of [byOwnKey, byOwnEndpoint])
      t.match(await embed(), { status: 200, body: { usage: { is_byok: true } } })
    const { leases, imbalances } = await books()
    t.same((await counted()).organization, [COST, COST + OWN_COST])
    t.same([leases, imbalances], [0, []])
  },
)
