import type { Settlement } from '../../../ports/money/journal.ts'
import type { BookEntry, OpenTake } from '../../../ports/money/lending.ts'
import type { AccountKind, Day } from '../../../ports/money/money.ts'
import { organizationAccount, workspaceAccount } from '../../../../schemas/money/accounts.ts'
import { LedgerColumns, NO_FIGURES, type LedgerKind, type LedgerRow } from './ledger-rows.ts'

/** Changes of one account on one day, nano-USD. */
export interface Entry {
  spent: bigint
  byok: bigint
  /** Nano-USD paid from the lease of the day, or returned from it. */
  fromLease: bigint
}

export interface ActivityRow {
  readonly organization_id: string
  readonly day: Day
  readonly workspace_id: string
  readonly key_hash: string
  readonly model: string
  requests: number
  tokens: number
  output_tokens: number
  cached_tokens: number
  milliseconds: number
  spent: bigint
  byok: bigint
  forfeited: bigint
}

type Whose = Pick<OpenTake, 'day' | 'organizationId' | 'workspaceId' | 'keyHash' | 'model'>

/** Settlements that differ only in time, request and figures; they are summed before they are added to accounts. */
interface Group {
  readonly of: Settlement
  readonly isLate: boolean
  /** Index of their common columns in the rows for the ledger. */
  readonly place: number
  requests: number
  tokens: number
  outputTokens: number
  cachedTokens: number
  milliseconds: number
  /** The part of their cost that a number can still represent exactly. */
  nano: number
  /** The rest of their cost. */
  moreNano: bigint
}

/** Entries of a batch, summed by account and day, so that the batch changes each row once. */
export class Books {
  readonly ledger = new LedgerColumns()
  readonly #entries = new Map<string, Map<Day, Entry>>()
  readonly #activity = new Map<string, ActivityRow>()
  /** Groups that are not yet added to accounts, by key and model; there are only a few groups for each pair. */
  readonly #groups = new Map<string, Map<string, Group[]>>()

  get entries(): ReadonlyMap<string, ReadonlyMap<Day, Entry>> {
    this.#count()
    return this.#entries
  }

  get accountIds(): readonly string[] {
    return [...this.entries.keys()]
  }

  get activity(): readonly ActivityRow[] {
    this.#count()
    return [...this.#activity.values()]
  }

  /** @param isLate the entry's lease has ended with its journal */
  add(entry: BookEntry, { isLate }: { readonly isLate: boolean } = IN_TIME): void {
    switch (entry.kind) {
      case 'settle':
        return this.#settle(entry, isLate)
      case 'give_back':
        this.entryOf(entry.accountId, entry.day).fromLease += isLate ? 0n : BigInt(entry.amountNano)
        return
      default:
        entry satisfies never
    }
  }

  /** The entry of an account, to be changed by the caller. */
  entryOf(accountId: string, day: Day): Entry {
    let days = this.#entries.get(accountId)
    if (days === undefined) this.#entries.set(accountId, (days = new Map()))
    let entry = days.get(day)
    if (entry === undefined) days.set(day, (entry = { spent: 0n, byok: 0n, fromLease: 0n }))
    return entry
  }

  /** The activity row of a call, to be changed by the caller. */
  activityOf({ organizationId, day, workspaceId, keyHash, model }: Whose): ActivityRow {
    const modelText = plain(model)
    const name = `${organizationId} ${day} ${workspaceId} ${keyHash} ${modelText}`
    let row = this.#activity.get(name)
    if (row === undefined) {
      row = {
        organization_id: organizationId,
        day,
        workspace_id: workspaceId,
        key_hash: keyHash,
        model: modelText,
        requests: 0,
        tokens: 0,
        output_tokens: 0,
        cached_tokens: 0,
        milliseconds: 0,
        spent: 0n,
        byok: 0n,
        forfeited: 0n,
      }
      this.#activity.set(name, row)
    }
    return row
  }

  #settle(settle: Settlement, isLate: boolean): void {
    const group = this.#groupOf(settle, isLate)
    const { costNano, overrunNano, tokens, text, milliseconds } = settle
    this.ledger.add(group.place, {
      at_ms: settle.atMs,
      request_id: plain(settle.requestId),
      tokens,
      output_tokens: text?.outputTokens ?? null,
      cached_tokens: text?.cachedTokens ?? null,
      milliseconds,
      cost_nano: costNano,
    })
    if (overrunNano > 0) this.ledger.push({ ...ledgerRow(settle, 'overrun', overrunNano), ...NO_FIGURES })
    group.requests += 1
    group.tokens += tokens
    group.outputTokens += text?.outputTokens ?? 0
    group.cachedTokens += text?.cachedTokens ?? 0
    group.milliseconds += milliseconds
    if (group.nano + costNano > Number.MAX_SAFE_INTEGER) {
      group.moreNano += BigInt(group.nano)
      group.nano = 0
    }
    group.nano += costNano
  }

  #groupOf(settle: Settlement, isLate: boolean): Group {
    let models = this.#groups.get(settle.keyHash)
    if (models === undefined) this.#groups.set(settle.keyHash, (models = new Map()))
    let groups = models.get(settle.model)
    if (groups === undefined) models.set(settle.model, (groups = []))
    for (const group of groups) if (isAlike(group, settle, isLate)) return group
    const place = this.ledger.placeOf(ledgerRow(settle, settle.isEstimated ? 'estimated' : 'usage', 0))
    const group = {
      of: settle,
      isLate,
      place,
      requests: 0,
      tokens: 0,
      outputTokens: 0,
      cachedTokens: 0,
      milliseconds: 0,
      nano: 0,
      moreNano: 0n,
    }
    groups.push(group)
    return group
  }

  #count(): void {
    for (const models of this.#groups.values()) {
      for (const groups of models.values()) for (const group of groups) this.#countGroup(group)
    }
    this.#groups.clear()
  }

  #countGroup({ of, isLate, requests, nano, moreNano, ...figures }: Group): void {
    const cost = moreNano + BigInt(nano)
    const what = of.isByok ? 'byok' : 'spent'
    for (const { kind, accountId } of accountsOf(of)) {
      const entry = this.entryOf(accountId, of.day)
      entry[what] += cost
      if (of.paid[kind] && !isLate) entry.fromLease += cost
    }
    const activity = this.activityOf(of)
    activity.requests += requests
    activity.tokens += figures.tokens
    activity.output_tokens += figures.outputTokens
    activity.cached_tokens += figures.cachedTokens
    activity.milliseconds += figures.milliseconds
    activity[what] += cost
  }
}

const IN_TIME = { isLate: false }

function isAlike({ of, isLate }: Group, other: Settlement, isOtherLate: boolean): boolean {
  const [paid, otherPaid] = [of.paid, other.paid]
  return (
    of.provider === other.provider &&
    of.day === other.day &&
    of.isByok === other.isByok &&
    of.isEstimated === other.isEstimated &&
    paid.organization === otherPaid.organization &&
    paid.workspace === otherPaid.workspace &&
    paid.key === otherPaid.key &&
    isLate === isOtherLate &&
    of.operation === other.operation &&
    of.workspaceId === other.workspaceId &&
    of.organizationId === other.organizationId &&
    of.keyAccountId === other.keyAccountId
  )
}

/** The three accounts of a call. */
export function accountsOf({
  organizationId,
  workspaceId,
  keyAccountId,
}: Pick<OpenTake, 'organizationId' | 'workspaceId' | 'keyAccountId'>): readonly {
  readonly kind: AccountKind
  readonly accountId: string
}[] {
  return [
    { kind: 'organization', accountId: organizationAccount(organizationId) },
    { kind: 'workspace', accountId: workspaceAccount(workspaceId) },
    { kind: 'key', accountId: keyAccountId },
  ]
}

/** @param call a settlement, or a take for which only the bound is known */
export function ledgerRow(
  call: Settlement | OpenTake,
  kind: LedgerKind,
  costNano: number | string,
): LedgerRow {
  const settled = 'costNano' in call ? call : null
  return {
    day: call.day,
    at_ms: call.atMs,
    request_id: plain(call.requestId),
    kind,
    organization_id: call.organizationId,
    workspace_id: call.workspaceId,
    key_hash: call.keyHash,
    account_id: null,
    operation: plain(call.operation),
    model: plain(call.model),
    provider: settled === null ? null : plain(settled.provider),
    tokens: settled?.tokens ?? null,
    output_tokens: settled?.text?.outputTokens ?? null,
    cached_tokens: settled?.text?.cachedTokens ?? null,
    milliseconds: settled?.milliseconds ?? null,
    cost_nano: costNano,
    is_byok: settled?.isByok ?? false,
  }
}

/**
 * Replaces characters that Postgres refuses: NUL, and half of a surrogate pair. One such text would block the
 * flush forever.
 */
export function plain(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
