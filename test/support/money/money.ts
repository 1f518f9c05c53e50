import type { Settlement } from '../../../src/server/ports/money/journal.ts'
import type { BookEntry, LendInput, Lender, OpenTake } from '../../../src/server/ports/money/lending.ts'
import type { AccountKind, Day, Span } from '../../../src/server/ports/money/money.ts'
import type { Log } from '../../../src/server/ports/observe.ts'
import { organizationAccount, workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { createKey } from '../keys/make-keys.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import type { Queryable, Store } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../audit/audit.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'

/** An owner of each kind, with their accounts. */
export interface Owners {
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly keyAccountId: string
  readonly accounts: Readonly<Record<AccountKind, string>>
}

export async function makeOwners(store: Store, name = 'o'): Promise<Owners> {
  const { organization, workspace } = must(await createOrganization(store, { name }))
  const input = { name, organizationId: organization.id, workspaceId: workspace.id } as const
  const {
    apiKey: { hash },
  } = must(await createKey(store, input, CLI))
  const accounts = {
    organization: organizationAccount(organization.id),
    workspace: workspaceAccount(workspace.id),
    key: `k${hash}`,
  }
  return {
    organizationId: organization.id,
    workspaceId: workspace.id,
    keyHash: hash,
    keyAccountId: accounts.key,
    accounts,
  }
}

/** Whose next request for money and whose next bytes these are. */
export class TestJournal {
  readonly id = newId()
  readonly #lender: Lender
  #sequence = 0
  offset = 0
  /** Of its opening. */
  day: Day = ''

  constructor(lender: Lender) {
    this.#lender = lender
  }

  async open(): Promise<this> {
    this.day = await this.#lender.open({ id: this.id, node: 'here', bootId: 'boot' })
    return this
  }

  ask(accounts: Readonly<Record<string, number>>, more: Partial<LendInput> = {}): LendInput {
    const asks = Object.entries(accounts).map(([accountId, nano]) => ({
      accountId,
      needNano: nano,
      leastNano: nano,
      useNano: 0,
    }))
    return {
      journalId: this.id,
      sequence: ++this.#sequence,
      day: '2000-01-01',
      liveFronts: 1,
      accounts: asks,
      ...more,
    }
  }

  async lend(accounts: Readonly<Record<string, number>>, more: Partial<LendInput> = {}) {
    const reply = await this.#lender.lend(this.ask(accounts, more))
    if (reply === null) throw new Error('the journal has ended')
    return reply
  }

  async flush(...entries: BookEntry[]) {
    const [from, to] = [this.offset, (this.offset += entries.length)]
    return this.#lender.flush({ journalId: this.id, from, to, entries })
  }
}

export async function openJournal(store: Store, log: Log = SILENT): Promise<TestJournal> {
  return new TestJournal(openLender(store, { log })).open()
}

const EVERYTHING = { organization: true, workspace: true, key: true }

export function settlement(
  owners: Owners,
  day: Day,
  costNano: number,
  more: Partial<Settlement> = {},
): Settlement {
  return {
    kind: 'settle',
    day,
    atMs: Date.parse(`${day}T12:00:00Z`),
    requestId: newId(),
    operation: 'embeddings.create',
    ...ids(owners),
    model: 'acme/m',
    provider: 'acme',
    tokens: 3,
    milliseconds: 5,
    costNano,
    overrunNano: 0,
    isByok: false,
    isEstimated: false,
    paid: EVERYTHING,
    ...more,
  }
}

export function openTake(owners: Owners, day: Day, nano: number, more: Partial<OpenTake> = {}): OpenTake {
  return {
    day,
    atMs: Date.parse(`${day}T12:00:00Z`),
    requestId: newId(),
    operation: 'embeddings.create',
    ...ids(owners),
    model: 'acme/m',
    amounts: { organization: nano, workspace: nano, key: nano },
    paid: EVERYTHING,
    ...more,
  }
}

function ids({ organizationId, workspaceId, keyHash, keyAccountId }: Owners) {
  return { organizationId, workspaceId, keyHash, keyAccountId }
}

export async function setLimit(sql: Queryable, accountId: string, span: Span, nano: number): Promise<void> {
  await sql`
    INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${accountId}, ${span}, ${newId()}, ${nano})
    ON CONFLICT (account_id, span) DO UPDATE SET limit_nano = excluded.limit_nano`
}

/** All credit of an organization, as one top-up. */
export async function limitCredit(sql: Queryable, organizationId: string, nano: number): Promise<void> {
  await sql`
    INSERT INTO credits (id, organization_id, kind, amount_nano, note, created_by) VALUES (${newId()}, ${organizationId}, 'top_up', ${nano}, 'n', 'ann')`
  await setLimit(sql, organizationAccount(organizationId), 'lifetime', nano)
}

/** Turns the calendar of a database to a day, forward or back. */
export async function turnTo(sql: Queryable, day: Day): Promise<void> {
  await sql.unsafe(
    `CREATE OR REPLACE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE AS $$ SELECT DATE '${day}' $$`,
  )
}

/** Entries of the books that do not balance, recounted from ledger and leases; empty when all is well. */
export async function imbalances(sql: Queryable): Promise<readonly unknown[]> {
  return sql.unsafe(IMBALANCES)
}

const SPAN_ROWS = ['daily', 'weekly', 'monthly', 'lifetime'].map((span) => {
  const unit = { daily: 'day', weekly: 'week', monthly: 'month' }[span]
  const isIn = unit === undefined ? 'true' : `date_trunc('${unit}', e.day) = date_trunc('${unit}', a.day)`
  const isLent = isIn.replaceAll('e.day', 'l.day')
  return `
    SELECT a.id, '${span}' AS span, a.${span}_spent_nano AS spent, a.${span}_byok_nano AS byok, a.${span}_lent_nano AS lent,
      coalesce((SELECT sum(e.spent) FROM effects e WHERE e.id = a.id AND ${isIn}), 0) AS spent_should,
      coalesce((SELECT sum(e.byok) FROM effects e WHERE e.id = a.id AND ${isIn}), 0) AS byok_should,
      coalesce((SELECT sum(l.lent_nano) FROM leases l WHERE l.account_id = a.id AND ${isLent}), 0) AS lent_should
    FROM accounts a`
})

const IMBALANCES = `
  WITH priced AS (
    SELECT *, cost_nano - released_nano AS nano FROM ledger WHERE kind <> 'overrun'),
  effects AS MATERIALIZED (
    SELECT id, day, sum(nano) FILTER (WHERE NOT is_byok) AS spent, sum(nano) FILTER (WHERE is_byok) AS byok FROM (
      SELECT 'o' || organization_id AS id, day, nano, is_byok FROM priced WHERE kind <> 'forfeit'
      UNION ALL SELECT 'w' || workspace_id, day, nano, is_byok FROM priced WHERE account_id IS NULL
      UNION ALL SELECT k.account_id, day, nano, is_byok FROM priced p JOIN api_keys k ON k.hash = p.key_hash WHERE p.account_id IS NULL
      UNION ALL SELECT account_id, day, nano, is_byok FROM priced WHERE account_id IS NOT NULL) AS every
    GROUP BY id, day),
  counted AS (${SPAN_ROWS.join(' UNION ALL ')}),
  rolled AS (
    SELECT organization_id, day, workspace_id, key_hash, model, count(*) FILTER (WHERE kind <> 'forfeit') AS requests,
      coalesce(sum(tokens), 0) AS tokens, coalesce(sum(milliseconds), 0) AS milliseconds,
      coalesce(sum(nano) FILTER (WHERE kind <> 'forfeit' AND NOT is_byok), 0) AS spent_nano,
      coalesce(sum(nano) FILTER (WHERE kind <> 'forfeit' AND is_byok), 0) AS byok_nano,
      coalesce(sum(nano) FILTER (WHERE kind = 'forfeit'), 0) AS forfeited_nano
    FROM priced WHERE account_id IS NULL GROUP BY 1, 2, 3, 4, 5),
  -- The stored roll-up, which must equal the sums.
  stored AS (
    SELECT organization_id, day, workspace_id, key_hash, model, requests, tokens, milliseconds, spent_nano, byok_nano, forfeited_nano FROM activity)
  SELECT to_jsonb(c) AS what FROM counted c WHERE (spent, byok, lent) IS DISTINCT FROM (spent_should, byok_should, lent_should)
  UNION ALL SELECT to_jsonb(r) FROM ((TABLE rolled EXCEPT TABLE stored) UNION ALL (TABLE stored EXCEPT TABLE rolled)) r`
