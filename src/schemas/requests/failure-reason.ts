import { textOf, type Failure, type FailureName } from '../failures.ts'
import type { FailureMetadata, Issue } from '../failure-metadata.ts'
import type { SchemaNames } from './schema-names.ts'

/** Characters of the JSON with a call's failure reason in the log; if it is longer, the last issues are left out. Decision. */
export const FAILURE_REASON_CHARS_MAX = 1_024
/** Characters of the expected value of one input in this JSON. Decision. */
export const REASON_EXPECTED_CHARS_MAX = 160

/** An invalid input: its JSON pointer and the expected value; null: the expected value contains the caller's words. */
export interface LoggedIssue {
  readonly path: string
  readonly expected: string | null
}

/**
 * Why a call failed, for the request log. Contains no content of the call, no key, and no words chosen by a
 * caller or a provider.
 */
export interface FailureReason {
  /** The message of the answer, if it consists only of Sluice's own words and numbers. */
  readonly message?: string
  readonly issues?: readonly LoggedIssue[]
  /** Limits, amounts and kinds, by name. */
  readonly facts?: Readonly<Record<string, string | number>>
}

/** Failures whose whole text consists of Sluice's own words, numbers and names of the catalogue. */
const OWN_WORDS: ReadonlySet<FailureName> = new Set([
  'credit_exhausted',
  'key_limit_exceeded',
  'budget_exceeded',
  'cost_unbounded',
  'endpoint_unconfigured',
  'tokens_over_limit',
  'body_too_large',
  'file_too_large',
])

/** Fields of failures that contain a number, one of Sluice's own words, or names of the catalogue. */
const FIELDS = [
  ...['status', 'connection', 'rule', 'refusal', 'holder', 'estimated', 'limit', 'unit', 'hops'],
  ...['nearest', 'variables'],
]
const FACTS = [
  'limit_source',
  'limit_kind',
  'scope',
  'interval',
  'limit',
  'spend',
  'held',
  'max_cost',
  'reset_at',
  'estimated_tokens',
  'affordable_output_tokens',
  'default_max_output_tokens',
] as const satisfies readonly (keyof FailureMetadata)[]

/** Null: only the name of the failure is known. */
export function reasonOf(failure: Failure, names: SchemaNames): FailureReason | null {
  const facts = factsOf(failure)
  const hasFacts = Object.keys(facts).length > 0
  const issues = (failure.metadata?.issues ?? []).map((issue) => issueOf(issue, names))
  const reason = {
    ...(isOwnWords(failure) && { message: textOf(failure) }),
    ...(hasFacts && { facts }),
    ...(issues.length > 0 && { issues }),
  }
  return bounded(reason)
}

/** The limit that refused a call: its owner, and for a spending limit its interval. */
export function limitOf({ metadata }: Failure): string | null {
  if (metadata?.scope === undefined) return null
  return metadata.interval === undefined ? metadata.scope : `${metadata.scope} ${metadata.interval}`
}

/** Whether the text contains no words of a provider. The detail of a provider's failure may contain them, but not if the provider sent no answer. */
function isOwnWords({ name, fields, metadata }: Failure): boolean {
  // The text would contain the whole pointer of the first issue.
  if (metadata?.issues !== undefined) return false
  return OWN_WORDS.has(name) || (name === 'upstream_failed' && fields?.['connection'] !== undefined)
}

function factsOf({ fields, metadata }: Failure): Record<string, string | number> {
  const facts: Record<string, string | number> = {}
  for (const field of FIELDS) {
    const value = fields?.[field]
    if (value !== undefined) facts[field] = value
  }
  for (const fact of FACTS) {
    const value = metadata?.[fact]
    // The reset time of a rate limit differs from call to call, so calls could not share a reason.
    if (value !== undefined && (fact !== 'reset_at' || metadata?.interval !== undefined)) facts[fact] = value
  }
  return facts
}

function issueOf({ path, expected }: Issue, names: SchemaNames): LoggedIssue {
  const { pointer, masked } = names.mask(path)
  const words = new Set(expected.split(/[^\w.-]+/))
  if (masked.some((word) => words.has(word) || (word.length >= TELLING_CHARS && expected.includes(word))))
    return { path: pointer, expected: null }
  const isLong = expected.length > REASON_EXPECTED_CHARS_MAX
  return { path: pointer, expected: isLong ? `${expected.slice(0, REASON_EXPECTED_CHARS_MAX)}…` : expected }
}

/** Length from which a caller's word is unlikely to occur in another text by chance. */
const TELLING_CHARS = 6

/** The reason without its last issues if it is too long; null: nothing is left. */
function bounded(reason: FailureReason): FailureReason | null {
  const { issues = [], ...rest } = reason
  for (let kept = issues.length; kept > 0; kept--) {
    const short = { ...rest, issues: issues.slice(0, kept) }
    if (JSON.stringify(short).length <= FAILURE_REASON_CHARS_MAX) return short
  }
  const isEmpty = Object.keys(rest).length === 0
  return isEmpty || JSON.stringify(rest).length > FAILURE_REASON_CHARS_MAX ? null : rest
}

/** A reason as one line for people; empty: the facts already contain everything. */
export function reasonText(reason: {
  readonly message: string | null
  readonly issues: readonly LoggedIssue[]
}): string {
  const { message, issues } = reason
  if (message !== null) return message
  return issues
    .map(
      ({ path, expected }) =>
        `${path === '' ? 'the whole' : path}${expected === null ? '' : `: expected ${expected}`}`,
    )
    .join('; ')
}
