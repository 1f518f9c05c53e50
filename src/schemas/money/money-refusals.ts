import type { AccountKind } from './accounts.ts'
import { BUDGET_INTERVALS, type BudgetInterval } from './budgets.ts'
import { fail, type Failure, type FailureName, type Outcome } from '../failures.ts'
import type { FailureMetadata, Issue } from '../failure-metadata.ts'
import { usdOfNano, usdText } from './usd.ts'

/** A finite limit that does not cover a call. Whole nano-USD. */
export interface RefusingLimit {
  readonly kind: AccountKind
  readonly limit: {
    readonly span: BudgetInterval
    readonly limitNano: number
    readonly spentNano: number
    readonly restNano?: number
    readonly resetsAtMs: number | null
  }
  /** Upper bound of the call's cost, as this account counts it. */
  readonly boundNano: number
}

/**
 * The refusal of a call by its first limit in this order: credit, the key's limit, then the broadest budget.
 * C14. The field `availableNano` is what a call may cost to be covered.
 * @param refusing at least one
 */
export function moneyRefused(refusing: readonly RefusingLimit[]): Outcome<never> {
  const shown = refusing.reduce((first, one) => (rankOf(one) < rankOf(first) ? one : first))
  const { kind, limit } = shown
  const { failure, limitSource } = KINDS[kind]
  // Credit has only the lifetime as its interval.
  const interval = kind === 'organization' ? {} : { interval: limit.span }
  const metadata: FailureMetadata = {
    limit_source: limitSource,
    scope: kind,
    limit: usdOfNano(limit.limitNano),
    spend: usdOfNano(limit.spentNano),
    ...interval,
    ...(limit.resetsAtMs !== null && { reset_at: isoOf(limit.resetsAtMs) }),
  }
  const fields = { interval: limit.span, availableNano: availableIn(refusing) }
  return fail(failure, { fields, detail: detailOf(shown), metadata })
}

/**
 * The refusal of a call whose cost has no upper bound.
 * @param kinds accounts with a finite limit, at least one
 */
export function costUnbounded(kinds: readonly AccountKind[], cause: UnboundedCause): Outcome<never> {
  const scope = ORDER.find((kind) => kinds.includes(kind)) ?? 'workspace'
  const { detail, issues } = causeOf(cause)
  return fail('cost_unbounded', {
    fields: { scope: `the ${scope}` },
    metadata: { limit_source: KINDS[scope].limitSource, scope, ...(issues && { issues }) },
    ...(detail !== undefined && { detail }),
  })
}

/** Why a cost has no bound; without members: nothing bounds its tokens. */
export interface UnboundedCause {
  /** Tag of an endpoint without a price. */
  readonly unpriced?: string
  /** What of the request has no bound. */
  readonly unbounded?: Issue
}

function causeOf({
  unpriced,
  unbounded,
}: UnboundedCause): Pick<Failure, 'detail'> & Pick<FailureMetadata, 'issues'> {
  if (unpriced !== undefined)
    return {
      detail: `The catalogue has no price for ${unpriced}: the operator can give it \`pricing\`, or \`"free": true\`.`,
    }
  if (unbounded === undefined) return {}
  // The message names the issue by itself.
  return { detail: 'Without a limit the call passes.', issues: [unbounded] }
}

/** In the order of reporting. */
const ORDER = ['organization', 'key', 'workspace'] as const satisfies readonly AccountKind[]

const KINDS: Readonly<Record<AccountKind, { readonly failure: FailureName; readonly limitSource: string }>> =
  {
    organization: { failure: 'credit_exhausted', limitSource: 'credit' },
    key: { failure: 'key_limit_exceeded', limitSource: 'key_limit' },
    workspace: { failure: 'budget_exceeded', limitSource: 'budget' },
  }

/** Nano-USD that a call may cost at most to be covered by all of the limits. */
function availableIn(refusing: readonly RefusingLimit[]): number {
  const rests = refusing.map(({ limit }) => limit.restNano ?? limit.limitNano - limit.spentNano)
  return Math.max(0, Math.min(...rests))
}

/** The limit of the lowest rank is reported. BUDGET_INTERVALS begins with the narrowest interval. */
function rankOf({ kind, limit }: RefusingLimit): number {
  return ORDER.indexOf(kind) * BUDGET_INTERVALS.length - BUDGET_INTERVALS.indexOf(limit.span)
}

function detailOf({ limit, boundNano }: RefusingLimit): string {
  const { limitNano, spentNano, restNano, resetsAtMs } = limit
  const heldNano = restNano === undefined ? 0 : limitNano - spentNano - restNano
  const facts = [
    `${usdText(spentNano)} of ${usdText(limitNano)} USD are used`,
    // Without the held amount, the refusal would name a limit that seems to have room.
    ...(heldNano > 0 ? [`${usdText(heldNano)} are held for calls under way`] : []),
    `and it may cost up to ${usdText(boundNano)}`,
  ]
  const reset = resetsAtMs === null ? '' : `; the limit resets at ${isoOf(resetsAtMs)}`
  return `${facts.join(', ')}${reset}.`
}

/** Windows begin at whole seconds. */
function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
