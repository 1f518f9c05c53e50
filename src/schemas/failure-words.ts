import Type, { type Static } from 'typebox'
import { FAILURES, textOf, type FailureName } from './failures.ts'
import { remedyOf } from './remedies.ts'

/** Where a failure is mended, for an operator: what to do, and the page of the dashboard to do it. */
export interface OperatorRemedy {
  /** A phrase that goes on. */
  readonly fix: string
  readonly page?: string
}

const SMALLER_CALLS = 'let callers send `max_tokens`, set `default_max_output_tokens` on the key'

/** Remedies of the operator; all other failures only the callers can solve. */
export const OPERATOR_REMEDIES: Readonly<Partial<Record<FailureName, OperatorRemedy>>> = {
  credentials_missing: { fix: 'give the callers a key', page: 'keys' },
  key_unknown: {
    fix: 'see whether a key was deleted that is still in use, and give its callers another',
    page: 'keys',
  },
  key_expired: { fix: 'rotate the key, or make another for its callers', page: 'keys' },
  key_disabled: { fix: 'enable the key, or take it from its callers', page: 'keys' },
  wrong_key_kind: { fix: 'calls of models take inference keys, the rest management keys', page: 'keys' },
  rate_limited: {
    fix: 'raise the requests a minute of the key or its burst, or let its callers wait as `Retry-After` says',
    page: 'keys',
  },
  tokens_over_limit: { fix: 'raise the tokens a minute of the key', page: 'keys' },
  key_limit_exceeded: { fix: `${SMALLER_CALLS}, or raise the limit of the key`, page: 'keys' },
  model_not_allowed: { fix: 'see which models the key may use', page: 'keys' },
  credit_exhausted: { fix: `${SMALLER_CALLS}, or add credit`, page: 'spend' },
  budget_exceeded: { fix: `${SMALLER_CALLS}, or raise the budget of the workspace`, page: 'spend' },
  cost_unbounded: { fix: 'see which limits the workspace and its keys have', page: 'spend' },
  model_unknown: { fix: 'see what the catalogue calls its models', page: 'models' },
  endpoint_unconfigured: { fix: 'give the node the key of a provider that serves the model', page: 'models' },
  endpoint_unavailable: {
    fix:
      'see which provider of the model fails and when its breaker lets a call try again; ' +
      'the failed calls before this one tell what it answered',
    page: 'models',
  },
  upstream_failed: {
    fix:
      'see whether the provider has an outage and whether its base URL can be reached from this node; ' +
      'a second provider of the model takes over such calls',
    page: 'models',
  },
  upstream_invalid: {
    fix: 'see whether the base URL of the provider speaks the protocol that the catalogue says',
    page: 'models',
  },
  upstream_credential: { fix: "replace this installation's key of the provider", page: 'models' },
  upstream_overloaded: {
    fix: 'ask the provider for more throughput, or add a second provider of the model',
    page: 'models',
  },
  upstream_slow: {
    fix:
      'see how slow the provider is now; raise its `timeout_ms` in the catalogue, ' +
      'or add a second provider of the model',
    page: 'models',
  },
  client_gone: {
    fix:
      'the parts of the call tell what took so long; a client that waits longer, ' +
      'or asks for a stream, gets its answer',
  },
  quota_exceeded: { fix: 'remove files of the workspace', page: 'files' },
  video_jobs_full: { fix: 'see whether the jobs of the workspace get on', page: 'jobs' },
}

/** Causes whose texts have places that only the answer of the call fills. */
const CAUSES: Readonly<Partial<Record<FailureName, string>>> = {
  not_served: 'Sluice does not serve this path.',
  method_not_allowed: 'The path takes other methods.',
  credentials_missing: 'The call came without an API key.',
  wrong_key_kind: 'The operation needs a key of another kind.',
  scope_missing: 'The key lacks a scope that the operation needs.',
  rate_limited: 'More came at once, or in a minute, than the limit lets in.',
  tokens_over_limit: 'The call needs more tokens than it may have in a minute: no wait lets it in.',
  budget_exceeded: 'The budget of the workspace does not cover this call.',
  cost_unbounded: 'The maximum cost of the call is unknown, and a limit of money has to count it.',
  body_too_large: 'The body is larger than the operation takes.',
  file_too_large: 'The file is larger than the operation takes.',
  hops_exceeded: 'A provider or a private endpoint leads back to where it is called from.',
  upstream_too_large: 'The provider returned more than a call may hold.',
  upstream_own_key:
    "The provider refused the workspace's own key, a secret of its vault. The operator's key was not tried.",
  content_unsupported: 'The content is of a type that is not accepted.',
  video_jobs_full: 'The workspace has as many open video jobs as it may.',
  quota_exceeded: 'What was sent does not fit into what may be stored.',
}

/** A value that only the answer of the call has. */
const UNFILLED = /\{\w+\}/g

/** What an error means for the operator, and what helps. */
export const FailureWords = Type.Object({
  cause: Type.String({ description: 'Cause.' }),
  remedy: Type.String({ description: 'Fix.' }),
  page: Type.Union([Type.String(), Type.Null()], {
    description: 'Dashboard page for the fix, such as `keys`; null when the caller fixes it.',
  }),
})
export type FailureWords = Static<typeof FailureWords>

/** Null for what is no name of a failure. */
export function failureWords(name: string): FailureWords | null {
  if (!isFailure(name)) return null
  const { fix, page = null } = OPERATOR_REMEDIES[name] ?? {}
  return {
    cause: (CAUSES[name] ?? textOf({ name })).replace(UNFILLED, '…'),
    remedy: (fix === undefined ? remedyOf(name) : sentenceOf(fix)).replace(UNFILLED, '…'),
    page,
  }
}

export function isFailure(name: string): name is FailureName {
  return Object.hasOwn(FAILURES, name)
}

function sentenceOf(phrase: string): string {
  return `${phrase.slice(0, 1).toUpperCase()}${phrase.slice(1)}.`
}
