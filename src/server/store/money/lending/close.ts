import type { Closing, ClosingReport, OpenTake, TakeProgress } from '../../../ports/money/lending.ts'
import type { Settlement } from '../../../ports/money/journal.ts'
import type { Log } from '../../../ports/observe.ts'
import { lockAccounts, type Account } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import { accountsOf, Books, ledgerRow } from './books.ts'
import { addLate } from './late.ts'
import { NO_FIGURES } from './ledger-rows.ts'
import { leasesOf, type Lease } from './leases.ts'
import { post } from './post.ts'

interface Standing {
  readonly state: 'open' | 'closed'
  readonly applied: string
  readonly now_ms: number
}

/**
 * Ends a journal; for a journal that has ended, applies only new entries. Locks: the journal's row, its
 * refills row, then the accounts. Design §6.5.
 */
export async function close(tx: Transaction, closing: Closing, log: Log): Promise<ClosingReport> {
  const { journalId, rest } = closing
  const [journal] = await tx<Standing[]>`
    SELECT state, applied, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms
    FROM journals WHERE id = ${journalId} FOR UPDATE`
  const fresh = freshOf(closing, journal)
  const to = Math.max(rest?.to ?? 0, Number(journal?.applied ?? 0))
  if (journal === undefined) return NOTHING
  if (journal.state === 'closed') {
    const isNew = rest !== null && rest.to !== Number(journal.applied)
    const late = isNew ? [...fresh, ...closing.open.flatMap(streamOf)] : []
    if (late.length > 0) await addLate(tx, { journalId, entries: late, log })
    await tx`UPDATE journals SET applied = ${to} WHERE id = ${journalId}`
    return { ...NOTHING, entries: late.length }
  }
  // From now on nothing is lent to the journal; a concurrent lend has ended.
  await tx`DELETE FROM refills WHERE journal_id = ${journalId}`
  await tx`UPDATE journals SET state = 'closed', closed_at = clock_timestamp(), applied = ${to} WHERE id = ${journalId}`
  const books = new Books()
  for (const entry of fresh) books.add(entry)
  const ending = new Ending(books, journal.now_ms)
  for (const take of closing.open) ending.take(take, closing.isComplete)
  const leases = await leasesOf(tx, journalId, null)
  const accounts = await lockAccounts(tx, [
    ...new Set([...books.accountIds, ...leases.map(({ accountId }) => accountId)]),
  ])
  const owners = new Map(accounts.map((account) => [account.id, account]))
  for (const lease of leases)
    ending.end({ lease, account: owners.get(lease.accountId), journalId, isExplained: closing.isComplete })
  await post(tx, { journalId, books, accounts, leases, log })
  const { forfeits, forfeitedNano, returnedNano } = ending
  return { isClosed: true, entries: fresh.length, forfeits, forfeitedNano, returnedNano }
}

const NOTHING: ClosingReport = {
  isClosed: false,
  entries: 0,
  forfeits: 0,
  forfeitedNano: 0n,
  returnedNano: 0n,
}

/** Entries that are not applied yet. Throws for a part that does not follow the applied offset. */
function freshOf(
  { journalId, rest }: Closing,
  journal: Standing | undefined,
): NonNullable<Closing['rest']>['entries'] {
  if (rest === null || rest.to === Number(journal?.applied ?? 0)) return []
  if (journal === undefined) throw new Error(`journal ${journalId} has entries but was never opened`)
  if (rest.from === Number(journal.applied)) return rest.entries
  throw new Error(
    `journal ${journalId} applied up to ${journal.applied}, got entries from ${rest.from} to ${rest.to}`,
  )
}

/** The settlement of a take, if it belongs to a stream; otherwise empty. */
function streamOf(take: OpenTake): readonly Settlement[] {
  return take.progress === undefined ? [] : [estimateOf(take, take.progress)]
}

/** The settlement of a call whose front died while its answer streamed. */
function estimateOf(take: OpenTake, progress: TakeProgress): Settlement {
  const { day, requestId, operation, organizationId, workspaceId, keyHash, keyAccountId } = take
  const { atMs, provider, model, tokens, text, milliseconds, costNano, isByok, paid } = progress
  return {
    kind: 'settle',
    ...{ day, requestId, operation, organizationId, workspaceId, keyHash, keyAccountId },
    ...{ atMs, provider, model, tokens, text, milliseconds, costNano, isByok, paid },
    overrunNano: 0,
    isEstimated: true,
  }
}

/** Settles the money that a dead front held. */
class Ending {
  forfeits = 0
  forfeitedNano = 0n
  returnedNano = 0n
  readonly #books: Books
  readonly #nowMs: number

  constructor(books: Books, nowMs: number) {
    this.#books = books
    this.#nowMs = nowMs
  }

  /** @param isExplained true when no later record of the journal can be lost */
  take(take: OpenTake, isExplained: boolean): void {
    const { progress } = take
    if (progress === undefined) this.#forfeit(take)
    else this.#progressed(take, progress, progress.isDrained || !isExplained)
  }

  /**
   * Books the cost of a streamed answer so far as usage. The rest of the bound is returned if the provider
   * stopped when its connection closed, and is forfeited if it may have continued.
   */
  #progressed(take: OpenTake, progress: TakeProgress, mayBeSpent: boolean): void {
    const { isByok, costNano } = progress
    this.#books.add(estimateOf(take, progress))
    const forfeited = { workspace: 0, key: 0 }
    for (const { kind, accountId } of accountsOf(take)) {
      const rest = Math.max(0, take.amounts[kind] - (progress.paid[kind] ? costNano : 0))
      const entry = this.#books.entryOf(accountId, take.day)
      if (take.paid[kind]) entry.fromLease += BigInt(rest)
      // An account that does not count the workspace's own credentials does not count such a call at all.
      if (!mayBeSpent || kind === 'organization' || (isByok && !progress.paid[kind])) {
        if (take.paid[kind]) this.returnedNano += BigInt(rest)
        continue
      }
      forfeited[kind] = Math.max(0, take.amounts[kind] - costNano)
      entry.spent += BigInt(forfeited[kind])
    }
    this.#forfeitedOf(take, forfeited)
  }

  /** Counts the bound of a call whose cost is unknown, except for credit, which counts only real spend. */
  #forfeit(take: OpenTake): void {
    for (const { kind, accountId } of accountsOf(take)) {
      const amount = BigInt(take.amounts[kind])
      const entry = this.#books.entryOf(accountId, take.day)
      if (take.paid[kind]) entry.fromLease += amount
      if (kind !== 'organization') entry.spent += amount
      else if (take.paid[kind]) this.returnedNano += amount
    }
    this.#forfeitedOf(take, take.amounts)
  }

  #forfeitedOf(take: OpenTake, { workspace, key }: Pick<OpenTake['amounts'], 'workspace' | 'key'>): void {
    const [, ofWorkspace, ofKey] = accountsOf(take)
    // One row for the amount that both accounts count, and one for the rest that only one counts: calls with own
    // credentials may count in only one of the accounts.
    this.#forfeited(take, Math.min(workspace, key), null)
    if (workspace !== key)
      this.#forfeited(
        take,
        Math.abs(workspace - key),
        (workspace > key ? ofWorkspace : ofKey)?.accountId ?? null,
      )
  }

  /**
   * Returns the rest of a lease when the journal accounts for all spend, and for credit in any case; otherwise
   * the rest is forfeited.
   */
  end({
    lease: { accountId, day, lentNano },
    account,
    journalId,
    isExplained,
  }: {
    readonly lease: Lease
    readonly account: Account | undefined
    readonly journalId: string
    readonly isExplained: boolean
  }): void {
    const entry = this.#books.entryOf(accountId, day)
    const left = lentNano - entry.fromLease
    if (left <= 0n) return
    entry.fromLease += left
    if (isExplained || account === undefined || account.ownerKind === 'organization') {
      this.returnedNano += left
      return
    }
    entry.spent += left
    this.forfeits += 1
    this.forfeitedNano += left
    this.#books.ledger.push({
      day,
      at_ms: this.#nowMs,
      request_id: journalId,
      kind: 'forfeit',
      organization_id: account.organizationId,
      workspace_id: null,
      key_hash: null,
      account_id: accountId,
      operation: null,
      model: null,
      provider: null,
      ...NO_FIGURES,
      cost_nano: String(left),
      is_byok: false,
    })
  }

  #forfeited(take: OpenTake, nano: number, accountId: string | null): void {
    if (nano === 0) return
    this.#books.ledger.push({ ...ledgerRow(take, 'forfeit', nano), account_id: accountId })
    // Activity counts calls: an amount that counts for only one account is booked only in the ledger.
    if (accountId === null) this.#books.activityOf(take).forfeited += BigInt(nano)
    this.forfeits += 1
    this.forfeitedNano += BigInt(nano)
  }
}
