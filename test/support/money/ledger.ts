/**
 * Rows of the ledger with the counters and roll-ups that belong to them, written without the code under test.
 */
import { keyAccount, organizationAccount, workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { createKey } from '../keys/make-keys.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../audit/audit.ts'
import { must, present } from '../must.ts'
import { openTestStore } from '../stores/postgres.ts'
import type { Teardown } from '../teardown.ts'

export interface Row {
  readonly day: string
  readonly kind: 'usage' | 'estimated' | 'forfeit' | 'overrun'
  readonly cost: number
  readonly requestId: string
  readonly isByok: boolean
  readonly model: string
  readonly tokens: number
  readonly journalId: string | null
  /** Of a lump, in place of the key. */
  readonly accountId: string | null
  /** Unix milliseconds. */
  readonly atMs: number
}

export interface Books {
  readonly store: Store
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  /** Ids of the accounts of the three. */
  readonly accounts: { readonly organization: string; readonly workspace: string; readonly key: string }
  /** Books a row as a flush does. */
  book(...rows: readonly Partial<Row>[]): Promise<void>
  /** One counter of an account, as text. */
  counter(account: string, column: string): Promise<string>
  /** From now on this is the day of the calendar. */
  turnTo(day: string): Promise<void>
}

const BYOK = ['organization', 'workspace', 'key'] as const

export async function openBooks(t: Teardown, day = '2026-03-18'): Promise<Books> {
  const store = await openTestStore(t)
  await turnTo(store, day)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const input = { organizationId: organization.id, workspaceId: workspace.id }
  const { apiKey } = must(await createKey(store, input, CLI))
  const owner = { organizationId: organization.id, workspaceId: workspace.id, keyHash: apiKey.hash }
  const accounts = {
    organization: organizationAccount(organization.id),
    workspace: workspaceAccount(workspace.id),
    key: keyAccount(apiKey.hash),
  }
  return {
    store,
    ...owner,
    accounts,
    async book(...rows) {
      for (const [n, row] of rows.entries()) {
        await bookOne(
          store,
          { ...owner, accounts },
          {
            day,
            kind: 'usage',
            cost: 1,
            requestId: `r${n}`,
            isByok: false,
            model: 'm',
            tokens: 1,
            journalId: null,
            accountId: null,
            atMs: Date.now(),
            ...row,
          },
        )
      }
    },
    async counter(account, column) {
      const [row] = await store.sql.unsafe<{ value: string }[]>(
        `SELECT ${column}::text AS value FROM accounts WHERE id = $1`,
        [account],
      )
      return present(row).value
    },
    turnTo: (to) => turnTo(store, to),
  }
}

async function turnTo(store: Store, day: string): Promise<void> {
  await store.sql.unsafe(
    `CREATE OR REPLACE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE AS $$ SELECT '${day}'::date $$`,
  )
}

type Owner = Pick<Books, 'organizationId' | 'workspaceId' | 'keyHash' | 'accounts'>

async function bookOne(store: Store, owner: Owner, row: Row): Promise<void> {
  await store.sql.begin(async (tx) => {
    await tx`SELECT ledger_partition(${row.day}::date)`
    const isLump = row.accountId !== null
    const { organizationId, workspaceId, keyHash } = owner
    await tx`
      INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, account_id, operation, model, provider, tokens,
        milliseconds, cost_nano, is_byok, journal_id)
      VALUES (${row.day}, to_timestamp(${row.atMs}::float8 / 1000), ${row.requestId}, ${row.kind}, ${organizationId}, ${isLump ? null : workspaceId},
        ${isLump ? null : keyHash}, ${row.accountId},
        'embeddings.create', ${isLump ? null : row.model}, 'p', ${row.tokens}, 0, ${row.cost}, ${row.isByok}, ${row.journalId})`
    if (row.kind === 'overrun') return
    const isForfeit = row.kind === 'forfeit'
    for (const kind of BYOK) {
      const id = owner.accounts[kind]
      if (isLump ? id !== row.accountId : isForfeit && kind === 'organization') continue
      const what = row.isByok && !isForfeit ? 'byok' : 'spent'
      await tx.unsafe(
        `
        UPDATE accounts SET lifetime_${what}_nano = lifetime_${what}_nano + $2::bigint,
          daily_${what}_nano = daily_${what}_nano + CASE WHEN day = $3::date THEN $2::bigint ELSE 0 END,
          weekly_${what}_nano = weekly_${what}_nano + CASE WHEN to_char(day, 'IYYY-IW') = to_char($3::date, 'IYYY-IW') THEN $2::bigint ELSE 0 END,
          monthly_${what}_nano = monthly_${what}_nano + CASE WHEN to_char(day, 'YYYY-MM') = to_char($3::date, 'YYYY-MM') THEN $2::bigint ELSE 0 END
        WHERE id = $1`,
        [id, row.cost, row.day],
      )
    }
    if (isLump) return
    const [spent, byok] = isForfeit ? [0, 0] : row.isByok ? [0, row.cost] : [row.cost, 0]
    await tx`
      INSERT INTO activity AS a VALUES (${organizationId}, ${row.day}, ${workspaceId}, ${keyHash}, ${row.model},
        ${isForfeit ? 0 : 1}, ${isForfeit ? 0 : row.tokens}, 0,
        ${spent}, ${byok}, ${isForfeit ? row.cost : 0})
      ON CONFLICT (organization_id, day, workspace_id, key_hash, model) DO UPDATE SET
        requests = a.requests + excluded.requests, tokens = a.tokens + excluded.tokens,
        spent_nano = a.spent_nano + excluded.spent_nano, byok_nano = a.byok_nano + excluded.byok_nano,
        forfeited_nano = a.forfeited_nano + excluded.forfeited_nano`
  })
}
