import { organizationAccount } from '../../../schemas/money/accounts.ts'
import type { CreditKind } from '../../../schemas/money/credits.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import { LIMITS_APPLIED_WAIT_MS_MAX, USD_MAX } from '../../../schemas/money/money-limits.ts'
import type { LimitActor } from '../../ports/money/budgets.ts'
import type { CreditEntry, Credits, CreditState, CreditInput } from '../../ports/money/credits.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import {
  bumpLimits,
  isApplied,
  isWithin,
  putLimit,
  readAccounts,
  type AccountLimit,
  type AccountNow,
} from './account-limits.ts'
import { lockAccounts } from './accounts.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { BudgetDeps } from './budgets.ts'
import { newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { nanoOfUsd, usdOfNano } from '../../../schemas/money/costs.ts'

/** Credit is the lifetime limit of the organization's account. */
export function openCredits({
  store,
  hints,
  appliedWaitMs = LIMITS_APPLIED_WAIT_MS_MAX,
}: BudgetDeps): Credits {
  const { sql } = store
  return {
    get: (organizationId) =>
      reach(async () => {
        const account = await read(sql, organizationId)
        return ok(stateOf(account, await isApplied(sql, account.limitsEpoch)))
      }),
    async add(input, by) {
      const booked = await reach(() => sql.begin((tx) => add(tx, input, by)))
      if (!booked.ok) return booked
      const { entry, account, change } = booked.value
      if (change !== null) await hints.publish(change)
      // The entry is committed, regardless of the result of this check.
      const applied = await reach(async () =>
        ok(await isApplied(sql, change?.n ?? account.limitsEpoch, appliedWaitMs)),
      )
      return ok({ entry, state: stateOf(account, applied.ok && applied.value) })
    },
  }
}

/** Newest first. Failure: store_unavailable. */
export function listCredits(
  { sql }: Store,
  organizationId: string,
): Promise<Outcome<readonly CreditEntry[]>> {
  return reach(async () => {
    const rows = await sql<
      CreditRow[]
    >`SELECT * FROM credits WHERE organization_id = ${organizationId} ORDER BY created_at DESC, id`
    return ok(rows.map(entryOf))
  })
}

interface Booked {
  readonly entry: CreditEntry
  readonly account: AccountNow
  /** Null: the entry had already been booked. */
  readonly change: Invalidation | null
}

async function add(tx: Transaction, input: CreditInput, by: LimitActor): Promise<Outcome<Booked>> {
  const { organizationId, amountNano } = input
  await lockAccounts(tx, [organizationAccount(organizationId)])
  const account = await read(tx, organizationId)
  const repeated = await bookedBy(tx, input)
  if (repeated !== null) {
    const isSame = repeated.amountNano === amountNano && repeated.note === input.note
    return isSame ? ok({ entry: repeated, account, change: null }) : fail('idempotency_mismatch')
  }
  const limit = limitOf(account)
  const openingNano = limit === undefined ? account.spent.lifetime : 0n
  const ownNano = (limit?.limitNano ?? 0n) + amountNano
  const totalNano = openingNano + ownNano
  if (ownNano < 0n || totalNano > CREDIT_NANO_MAX)
    return fail('credit_out_of_range', { fields: { limit: USD_MAX } })
  const booking = { ...input, createdBy: `${by.actor.kind} ${by.actor.id ?? ''}`.trim() }
  if (openingNano > 0n)
    await book(tx, { ...booking, kind: 'opening', amountNano: openingNano, note: OPENING_NOTE, claim: null })
  const entry = await book(tx, { ...booking, kind: amountNano > 0n ? 'top_up' : 'correction' })
  await putLimit(tx, account.id, { span: 'lifetime', limitNano: totalNano })
  const after = await read(tx, organizationId)
  const entryFields = {
    kind: entry.kind,
    amount_usd: usdOfNano(amountNano),
    note: entry.note,
    total_credits: usdOfNano(totalNano),
  }
  await appendAudit(tx, {
    ...by,
    organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'credit',
    objectId: entry.id,
    before: limit === undefined ? null : { total_credits: usdOfNano(limit.limitNano) },
    after: entryFields,
  })
  return ok({
    entry,
    account: after,
    change: await bumpLimits(tx, account.id, { kind: 'organization', id: organizationId }),
  })
}

const CREDIT_NANO_MAX = nanoOfUsd(USD_MAX) ?? 0n
const OPENING_NOTE = 'spent before the first top-up'

/** The entry that an earlier call with the same claim booked without storing its answer, for example when its process died. */
async function bookedBy(
  tx: Transaction,
  { organizationId, claim }: CreditInput,
): Promise<CreditEntry | null> {
  if (claim === null) return null
  const [row] = await tx<CreditRow[]>`
    SELECT * FROM credits WHERE organization_id = ${organizationId} AND turn_id = ${claim.id}
      AND created_at > clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms'
    ORDER BY created_at DESC LIMIT 1`
  return row === undefined ? null : entryOf(row)
}

type Booking = CreditInput & Pick<CreditEntry, 'kind' | 'createdBy'>

async function book(
  tx: Transaction,
  { organizationId, kind, amountNano, note, createdBy, claim }: Booking,
): Promise<CreditEntry> {
  const [row] = await tx<CreditRow[]>`
    INSERT INTO credits (id, organization_id, kind, amount_nano, note, created_by, turn_id)
    VALUES (${newId()}, ${organizationId}, ${kind}, ${String(amountNano)}, ${note}, ${createdBy}, ${claim?.id ?? null}) RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  return entryOf(row)
}

async function read(sql: Queryable, organizationId: string): Promise<AccountNow> {
  const [account] = await readAccounts(sql, [organizationAccount(organizationId)])
  if (account === undefined) throw new Error('an organization has no account')
  return account
}

function limitOf({ limits }: AccountNow): AccountLimit | undefined {
  return limits.find(({ span }) => span === 'lifetime')
}

function stateOf(account: AccountNow, isAppliedByAll: boolean): CreditState {
  const limit = limitOf(account)
  return {
    creditNano: limit?.limitNano ?? 0n,
    usedNano: account.spent.lifetime,
    lentNano: account.lent.lifetime,
    isUnlimited: limit === undefined,
    isEffective: isAppliedByAll && (limit === undefined || isWithin(account, limit)),
  }
}

interface CreditRow {
  readonly id: string
  readonly kind: CreditKind
  readonly amount_nano: string
  readonly note: string
  readonly created_by: string
  readonly created_at: Date
}

function entryOf(row: CreditRow): CreditEntry {
  return {
    id: row.id,
    kind: row.kind,
    amountNano: BigInt(row.amount_nano),
    note: row.note,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }
}
