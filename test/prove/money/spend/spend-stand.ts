import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { connected } from '../../../support/wire/connected.ts'
import {
  lentPostgres,
  outsidePostgres,
  outsideRedis,
  type OutsideRedis,
  type OutsideStore,
} from '../../../support/nodes/outside-stores.ts'
import { answers } from '../../../support/embeddings/provider-behaviours.ts'
import { startProvider } from '../../../support/embeddings/provider.ts'
import { manage } from '../../../support/nodes/manage.ts'
import { STAND_MODEL, startStand, type Stand } from '../../../support/nodes/stand.ts'
import type { Proof } from '../../proof.ts'

/** A node whose one model costs a micro-USD a token, with stores that can be taken away from it. */
export interface SpendStand {
  readonly stand: Stand
  readonly store: Store
  readonly postgres: OutsideStore
  /** Null: the node's own stands in. */
  readonly redis: OutsideRedis | null
  /** A management call. @returns the body; throws when the call is refused */
  manage(method: string, path: string, body?: object): Promise<Record<string, unknown>>
  /** An inference key of a workspace. */
  makeKey(
    workspaceId: string,
    more?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly key: string; readonly hash: string }>
  account(id: string): Promise<AccountState>
  /** Nothing is lent any more; resolves with milliseconds, or null after `msMax`, else `returnedMsMax`. */
  untilReturned(msMax?: number): Promise<number | null>
}

export interface AccountState {
  readonly spentNano: bigint
  readonly lentNano: bigint
}

export interface SpendStandInput {
  readonly fronts: number
  readonly settings?: Readonly<Record<string, string>>
  /** In place of the one with the model that embeds. */
  readonly catalogue?: object
  /** The proof ends Postgres: also in the short form it is one of its own. */
  readonly isPostgresEnded?: boolean
}

/** Milliseconds in which all that is lent comes back; in short it may take as long as a slow machine does. */
export function returnedMsMax({ isShort }: Proof): number {
  return isShort ? 180_000 : 30_000
}

/** Tokens of an input of so many bytes, as the provider counts them: less than its bound. */
const TOKENS_PER_BYTE = 0.7
const PRICE = '0.000001'

export async function startSpendStand(
  proof: Proof,
  { fronts, settings = {}, catalogue, isPostgresEnded = false }: SpendStandInput,
): Promise<SpendStand> {
  const provider = await startProvider()
  proof.after(() => provider.close())
  provider.usually((exchange) => {
    const tokens = Math.max(1, Math.floor(String(exchange.call.body['input']).length * TOKENS_PER_BYTE))
    answers({ usage: { prompt_tokens: tokens, total_tokens: tokens }, dimensions: 2 })(exchange)
  })
  const redis = await outsideRedis()
  if (redis !== null) proof.after(() => redis.close())
  const postgres = proof.isShort && !isPostgresEnded ? await lentPostgres() : await outsidePostgres()
  proof.after(() => postgres.close())
  const stand = await startStand({
    provider: provider.origin,
    price: PRICE,
    ...(catalogue === undefined ? null : { catalogue }),
    settings: {
      SLUICE_FRONTS: String(fronts),
      DATABASE_URL: postgres.url,
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      ...settings,
    },
  })
  proof.after(() => stand.stop())
  const store = await connected(openStore({ url: postgres.url, poolMax: 2, applicationName: 'sluice-prove' }))
  proof.after(() => store.close())
  return {
    stand,
    store,
    postgres,
    redis,
    manage: (method, path, body) => manage(stand, method, path, body),
    async makeKey(workspaceId, more = {}) {
      const made = await manage(stand, 'POST', '/keys', {
        name: 'spender',
        workspace_id: workspaceId,
        ...more,
      })
      return { key: String(made['key']), hash: String((made['data'] as { hash: string }).hash) }
    },
    account: (id) => accountOf(store, id),
    untilReturned: (msMax = returnedMsMax(proof)) => untilReturned(store, msMax),
  }
}

export { STAND_MODEL }

async function accountOf(store: Store, id: string): Promise<AccountState> {
  const [row] = await store.sql<{ spent: string; lent: string }[]>`
    SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${id}`
  if (row === undefined) throw new Error(`there is no account ${id}`)
  return { spentNano: BigInt(row.spent), lentNano: BigInt(row.lent) }
}

async function untilReturned(store: Store, msMax: number): Promise<number | null> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < msMax) {
    const [row] = await store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM leases`
    if (row?.count === 0) return performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return null
}
