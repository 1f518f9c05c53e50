import type { AccountKind } from './accounts.ts'
import { BUDGET_INTERVALS, type BudgetInterval } from './budgets.ts'
import { fail, type Failure, type FailureName, type Outcome } from '../failures.ts'
import type { FailureMetadata, Issue } from '../failure-metadata.ts'
import { DEFAULT_OUTPUT_TOKENS_MIN } from '../limits/rate-limits.ts'
import { nanoOfUsd, usdOfNano, usdText } from './costs.ts'

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
 * The field `availableNano` is the most that a call may cost to be covered.
 * @param refusing at least one
 */
export function moneyRefused(refusing: readonly RefusingLimit[]): Outcome<never> {
  const shown = refusing.reduce((first, one) => (rankOf(one) < rankOf(first) ? one : first))
  const { kind, limit, boundNano } = shown
  const { failure, limitSource } = KINDS[kind]
  const heldNano = heldOf(limit)
  // Credit has only the lifetime as its interval.
  const interval = kind === 'organization' ? {} : { interval: limit.span }
  const metadata: FailureMetadata = {
    limit_source: limitSource,
    scope: kind,
    limit: usdOfNano(limit.limitNano),
    spend: usdOfNano(limit.spentNano),
    // Without the held amount, the limit in the refusal would seem to have money left.
    ...(heldNano > 0 && { held: usdOfNano(heldNano) }),
    max_cost: usdOfNano(boundNano),
    ...interval,
    ...(limit.resetsAtMs !== null && { reset_at: isoOf(limit.resetsAtMs) }),
  }
  const availableNano = availableIn(refusing)
  const fields = { interval: limit.span, availableNano }
  const cures = availableNano > 0 ? ['make a smaller request'] : []
  return fail(failure, { fields, detail: detailOf(metadata, { cures }), metadata })
}

/** The token maximum of a call that a spending limit refuses. */
export interface RefusedTokens {
  /** The member of the request, such as `max_tokens`. */
  readonly member: string
  /** The most tokens of an answer that the remaining money covers. */
  readonly affordable: number
  /** The maximum in the request; null: it has none. */
  readonly asked: number | null
  /** The maximum that was assumed because the request has none; null: none. */
  readonly byDefault: number | null
}

/** The refusal of a text call, with the largest affordable maximum and how to send it. */
export function withAffordable(failure: Failure, availableNano: number, tokens: RefusedTokens): Failure {
  const metadata: FailureMetadata = {
    ...failure.metadata,
    affordable_output_tokens: tokens.affordable,
    ...(tokens.byDefault !== null && { default_max_output_tokens: tokens.byDefault }),
  }
  return {
    ...failure,
    metadata,
    detail: detailOf(metadata, { bound: BOUND, ...waysOut(availableNano, tokens) }),
  }
}

/** Explains how the bound of a text call counts the prompt, which has far fewer tokens. */
const BOUND = ' (an upper bound that counts at least one token per byte of the request)'
const TOO_LITTLE = 'The remaining amount does not cover the prompt and one output token. '

function waysOut(availableNano: number, tokens: RefusedTokens): Pick<RefusalWords, 'cures' | 'why'> {
  if (availableNano <= 0) return { cures: [] }
  // Even the smallest maximum is not affordable.
  return tokens.affordable === 0 ? { cures: [], why: TOO_LITTLE } : { cures: curesOf(tokens) }
}

function curesOf({ member, affordable, asked, byDefault }: RefusedTokens): readonly string[] {
  if (asked !== null) return [`lower \`${member}\` to ${affordable} or less`]
  const send = `set \`${member}\` to ${affordable} or less`
  if (byDefault !== null) return [send, `lower \`default_max_output_tokens\` (now ${byDefault})`]
  return affordable < DEFAULT_OUTPUT_TOKENS_MIN
    ? [send]
    : [send, 'set `default_max_output_tokens` on the key']
}

/** The refusal of a call whose cost has no upper bound. @param kinds accounts with a finite limit, at least one */
export function costUnbounded(kinds: readonly AccountKind[], cause: UnboundedCause): Outcome<never> {
  const scope = ORDER.find((kind) => kinds.includes(kind)) ?? 'workspace'
  const { detail, issues } = causeOf(cause)
  return fail('cost_unbounded', {
    fields: { scope },
    metadata: { limit_source: KINDS[scope].limitSource, scope, ...(issues && { issues }) },
    ...(detail !== undefined && { detail }),
  })
}

/** Why a cost has no bound; without members: its tokens are unbounded. */
export interface UnboundedCause {
  /** Tag of an endpoint without a price. */
  readonly unpriced?: string
  /** The part of the request that has no bound. */
  readonly unbounded?: Issue
}

function causeOf({
  unpriced,
  unbounded,
}: UnboundedCause): Pick<Failure, 'detail'> & Pick<FailureMetadata, 'issues'> {
  if (unpriced !== undefined)
    return {
      detail: `The catalogue has no price for ${unpriced}: the operator can set \`pricing\` or \`"free": true\` for this endpoint.`,
    }
  if (unbounded === undefined)
    return { detail: 'Send `max_tokens`, or set `default_max_output_tokens` on the key.' }
  // The message already contains the issue.
  return { detail: 'Without a spending limit, the call is allowed.', issues: [unbounded] }
}

/** Kinds of accounts, in the order in which they are reported. */
const ORDER = ['organization', 'key', 'workspace'] as const satisfies readonly AccountKind[]

interface Kind {
  readonly failure: FailureName
  readonly limitSource: string
  readonly raise: string
  /** What else helps when the limit is used up, so that a smaller call would not help. */
  readonly elsewhere?: string
}

const KINDS: Readonly<Record<AccountKind, Kind>> = {
  organization: { failure: 'credit_exhausted', limitSource: 'credit', raise: 'add credit' },
  key: {
    failure: 'key_limit_exceeded',
    limitSource: 'key_limit',
    raise: "raise the key's limit",
    elsewhere: 'use another key',
  },
  workspace: { failure: 'budget_exceeded', limitSource: 'budget', raise: 'raise the budget' },
}

/** The most nano-USD that a call may cost to be covered by all the limits. */
function availableIn(refusing: readonly RefusingLimit[]): number {
  const rests = refusing.map(({ limit }) => limit.restNano ?? limit.limitNano - limit.spentNano)
  return Math.max(0, Math.min(...rests))
}

/** The limit of the lowest rank is reported. BUDGET_INTERVALS begins with the narrowest interval. */
function rankOf({ kind, limit }: RefusingLimit): number {
  return ORDER.indexOf(kind) * BUDGET_INTERVALS.length - BUDGET_INTERVALS.indexOf(limit.span)
}

function heldOf({ limitNano, spentNano, restNano }: RefusingLimit['limit']): number {
  return restNano === undefined ? 0 : limitNano - spentNano - restNano
}

interface RefusalWords {
  /** Ways to make the call smaller; none: the limit is used up. */
  readonly cures: readonly string[]
  /** A sentence before the remedies. */
  readonly why?: string
  /** Explanation of the call's maximum cost. */
  readonly bound?: string
}

/** The amount used, the possible cost of the call, and the remedies. */
function detailOf(
  { scope, limit, spend, held, max_cost: cost, reset_at: resetAt }: FailureMetadata,
  { cures, why = '', bound = '' }: RefusalWords,
): string {
  const facts = [
    `${usd(spend)} of ${usd(limit)} USD is used`,
    ...(held === undefined ? [] : [`${usd(held)} is reserved for calls in progress`]),
    `and this call may cost up to ${usd(cost)} USD${bound}`,
  ]
  const reset = resetAt === undefined ? '' : `; the limit resets at ${resetAt}`
  const kind = ORDER.find((one) => one === scope) ?? 'workspace'
  const { raise, elsewhere } = KINDS[kind]
  const all = [
    ...cures,
    raise,
    ...(cures.length > 0 || elsewhere === undefined ? [] : [elsewhere]),
    ...(resetAt === undefined ? [] : ['wait until the limit resets']),
  ]
  return `${facts.join(', ')}${reset}. ${why}${sentenceOf(all)}`
}

function usd(amount = 0): string {
  return usdText(nanoOfUsd(amount) ?? 0n)
}

/** `Do one, do two, or do three.` */
function sentenceOf(cures: readonly string[]): string {
  const last = cures.at(-1) ?? ''
  const before = cures.slice(0, -1).join(', ')
  const words = before === '' ? last : `${before}, or ${last}`
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}

/** Windows begin at whole seconds. */
function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
