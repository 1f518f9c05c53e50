import type { Settlement } from '../../../ports/money/journal.ts'
import type { BookEntry, OpenTake } from '../../../ports/money/lending.ts'
import type { Day } from '../../../ports/money/money.ts'
import type { Log } from '../../../ports/observe.ts'
import { lockAccounts } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import { accountsOf, Books, plain } from './books.ts'
import { post } from './post.ts'

/**
 * Applies entries of a journal that was closed without them. Forfeited amounts become usage, or are released
 * if the entry returned them, so that the counters of workspaces and keys do not grow by amounts that a
 * forfeit already covers. The counter for credit grows, since credit has no forfeits.
 */
export async function addLate(
  tx: Transaction,
  {
    journalId,
    entries,
    log,
  }: {
    readonly journalId: string
    readonly entries: readonly BookEntry[]
    readonly log: Log
  },
): Promise<void> {
  const books = new Books()
  for (const entry of entries) books.add(entry, { isLate: true })
  // Forfeits are read and changed under the locks of their accounts, as in `forgive`: the opposite order would
  // deadlock.
  const accounts = await lockAccounts(tx, books.accountIds)
  const forfeits = new Forfeits(books, await forfeitsOf(tx, journalId))
  for (const entry of entries) {
    if (entry.kind === 'give_back')
      forfeits.release(
        forfeits.lumps(entry.accountId, entry.day),
        [entry.accountId],
        BigInt(entry.amountNano),
      )
    else coverUsage(forfeits, entry)
  }
  await post(tx, { journalId, books, accounts, leases: [], log })
  await saveReleases(tx, journalId, forfeits.released)
}

/** Uses the forfeit of the same call first, then forfeits that belong to no call. */
function coverUsage(forfeits: Forfeits, settle: Settlement): void {
  const owners = accountsOf(settle)
    .filter(({ kind }) => kind !== 'organization')
    .map(({ accountId }) => accountId)
  const ofCall = forfeits.ofCall(settle)
  const cost = BigInt(settle.costNano)
  const left =
    cost -
    forfeits.release(
      ofCall.filter((row) => row.account_id === null),
      owners,
      cost,
    )
  for (const accountId of owners) {
    const own = [
      ...ofCall.filter((row) => row.account_id === accountId),
      ...forfeits.lumps(accountId, settle.day),
    ]
    forfeits.release(own, [accountId], left)
  }
}

/** A row of the ledger that is still forfeited, partly or completely. */
interface Forfeit {
  readonly part: string
  readonly place: string
  readonly day: Day
  readonly request_id: string
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly key_hash: string | null
  readonly account_id: string | null
  readonly model: string | null
  held: bigint
  released: bigint
}

type Call = Pick<OpenTake, 'requestId' | 'keyHash' | 'workspaceId' | 'day'>

/** Callers choose request ids, and may choose ids of other callers: an id identifies a call only together with the key. */
function callName({ requestId, keyHash, workspaceId, day }: Call): string {
  return `${plain(requestId)} ${keyHash} ${workspaceId} ${day}`
}

class Forfeits {
  readonly #books: Books
  readonly #rows: readonly Forfeit[]
  readonly #byName = new Map<string, Forfeit[]>()

  constructor(books: Books, rows: readonly Forfeit[]) {
    this.#books = books
    this.#rows = rows
    for (const row of rows) {
      const { key_hash: keyHash, workspace_id: workspaceId } = row
      const name =
        keyHash === null
          ? `${row.account_id} ${row.day}`
          : callName({ requestId: row.request_id, keyHash, workspaceId: workspaceId ?? '', day: row.day })
      const named = this.#byName.get(name)
      if (named === undefined) this.#byName.set(name, [row])
      else named.push(row)
    }
  }

  get released(): readonly Forfeit[] {
    return this.#rows.filter((row) => row.released > 0n)
  }

  ofCall(call: Call): readonly Forfeit[] {
    return (this.#byName.get(callName(call)) ?? []).filter((row) => row.key_hash !== null)
  }

  lumps(accountId: string, day: Day): readonly Forfeit[] {
    return (this.#byName.get(`${accountId} ${day}`) ?? []).filter((row) => row.key_hash === null)
  }

  /** @param accountIds accounts that count these rows @returns the part of `nano` covered by the rows */
  release(rows: readonly Forfeit[], accountIds: readonly string[], nano: bigint): bigint {
    let left = nano
    for (const row of rows) {
      const amount = row.held < left ? row.held : left
      if (amount === 0n) continue
      row.held -= amount
      row.released += amount
      left -= amount
      for (const accountId of accountIds) this.#books.entryOf(accountId, row.day).spent -= amount
      const {
        organization_id: organizationId,
        workspace_id: workspaceId,
        key_hash: keyHash,
        model,
        day,
      } = row
      if (row.account_id !== null || workspaceId === null || keyHash === null || model === null) continue
      this.#books.activityOf({ organizationId, workspaceId, keyHash, model, day }).forfeited -= amount
    }
    return nano - left
  }
}

async function forfeitsOf(tx: Transaction, journalId: string): Promise<readonly Forfeit[]> {
  const rows = await tx<(Omit<Forfeit, 'held' | 'released'> & { held: string })[]>`
    SELECT tableoid::text AS part, ctid::text AS place, day::text, request_id, organization_id, workspace_id, key_hash, account_id, model,
      (cost_nano - released_nano)::text AS held
    FROM ledger WHERE kind = 'forfeit' AND journal_id = ${journalId} AND released_nano < cost_nano
    ORDER BY day, at, request_id FOR UPDATE`
  return rows.map((row) => ({ ...row, held: BigInt(row.held), released: 0n }))
}

async function saveReleases(tx: Transaction, journalId: string, forfeits: readonly Forfeit[]): Promise<void> {
  if (forfeits.length === 0) return
  const rows = forfeits.map(({ part, place, released }) => ({ part, place, nano: String(released) }))
  const { count } = await tx`
    UPDATE ledger AS l SET released_nano = l.released_nano + x.nano
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS x(part oid, place tid, nano bigint)
    WHERE l.journal_id = ${journalId} AND l.kind = 'forfeit' AND l.tableoid = x.part AND l.ctid = x.place`
  if (count !== forfeits.length) throw new Error('a locked forfeit row no longer exists')
}
