import Type, { type Static } from 'typebox'
import { FAILURE_CAUSES } from './failure-causes.ts'
import { FAILURES, type FailureName } from './failures.ts'
import { remedyOf } from './remedies.ts'

/** How an operator fixes a failure: what to do, and on which page of the dashboard. */
export interface OperatorRemedy {
  /** An imperative phrase that continues a sentence. */
  readonly fix: string
  readonly page?: string
}

const SMALLER_CALLS = 'have callers send `max_tokens`, set `default_max_output_tokens` on the key'

/** Remedies for operators; only callers can solve all other failures. */
export const OPERATOR_REMEDIES: Readonly<Partial<Record<FailureName, OperatorRemedy>>> = {
  credentials_missing: { fix: 'give the clients a key', page: 'keys' },
  key_unknown: {
    fix: 'check whether a key still in use was deleted, and give its clients a new key',
    page: 'keys',
  },
  key_expired: { fix: 'rotate the key, or give its clients a new key', page: 'keys' },
  key_disabled: { fix: 'enable the key, or stop clients from using it', page: 'keys' },
  wrong_key_kind: {
    fix: 'use inference keys to call models, and management keys for administration',
    page: 'keys',
  },
  rate_limited: {
    fix: "raise the key's requests per minute or burst, or have callers wait for the time in `Retry-After`",
    page: 'keys',
  },
  tokens_over_limit: { fix: "raise the key's tokens per minute", page: 'keys' },
  key_limit_exceeded: { fix: `${SMALLER_CALLS}, or raise the key's limit`, page: 'keys' },
  model_not_allowed: { fix: 'check which models the key may use', page: 'keys' },
  credit_exhausted: { fix: `${SMALLER_CALLS}, or add credit`, page: 'spend' },
  budget_exceeded: { fix: `${SMALLER_CALLS}, or raise the workspace's budget`, page: 'spend' },
  cost_unbounded: { fix: `${SMALLER_CALLS}, or complete the model's prices in the catalogue`, page: 'keys' },
  model_unknown: { fix: 'look up the model names in the catalogue', page: 'models' },
  endpoint_unconfigured: { fix: 'give the node the key of a provider that serves the model', page: 'models' },
  endpoint_unavailable: {
    fix:
      "check which of the model's providers fails, and when Sluice tests it again; " +
      "earlier failed calls show the provider's answers",
    page: 'models',
  },
  upstream_failed: {
    fix:
      'check whether the provider has an outage and whether this node can reach its base URL; ' +
      'a second provider for the model would take over such calls',
    page: 'models',
  },
  upstream_invalid: {
    fix: "check that the server at the provider's base URL supports the API format set in the catalogue",
    page: 'models',
  },
  upstream_credential: { fix: "replace this installation's key for the provider", page: 'models' },
  upstream_overloaded: {
    fix: 'ask the provider for more throughput, or add a second provider for the model',
    page: 'models',
  },
  upstream_slow: {
    fix:
      "check the provider's current latency; raise its `timeout_ms` in the catalogue, " +
      'or add a second provider for the model',
    page: 'models',
  },
  client_gone: {
    fix:
      'check which part of the call was slow; a client that waits longer ' +
      'or requests a stream gets its answer',
  },
  quota_exceeded: {
    fix: "delete unneeded objects, or raise the workspace's quota or the organization's cap",
  },
  video_jobs_full: { fix: "check whether the workspace's jobs are making progress", page: 'jobs' },
}

/** A placeholder in the path of a remedy. */
const UNFILLED = /\{\w+\}/g

/** Where the caller finds the invalid inputs, and where the record of the call contains them. */
const ISSUES_OF_ANSWER = '`metadata.issues`'
const ISSUES_OF_RECORD = 'the list of invalid inputs'

/** Meaning of an error for the operator, and how to fix it. */
export const FailureWords = Type.Object({
  cause: Type.String({ description: 'Cause.' }),
  remedy: Type.String({ description: 'Fix.' }),
  page: Type.Union([Type.String(), Type.Null()], {
    description:
      'Dashboard page where the error can be fixed, such as `keys`; null if the caller must fix it.',
  }),
})
export type FailureWords = Static<typeof FailureWords>

/** Null if there is no failure with this name. */
export function failureWords(name: string): FailureWords | null {
  if (!isFailure(name)) return null
  const { fix, page = null } = OPERATOR_REMEDIES[name] ?? {}
  return {
    cause: FAILURE_CAUSES[name],
    remedy: (fix === undefined ? remedyOf(name) : sentenceOf(fix))
      .replace(UNFILLED, '…')
      .replaceAll(ISSUES_OF_ANSWER, ISSUES_OF_RECORD),
    page,
  }
}

export function isFailure(name: string): name is FailureName {
  return Object.hasOwn(FAILURES, name)
}

function sentenceOf(phrase: string): string {
  return `${phrase.slice(0, 1).toUpperCase()}${phrase.slice(1)}.`
}
