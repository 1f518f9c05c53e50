import { FAILURES, type FailureName } from '../../schemas/failures.ts'
import { percentText, type Advice } from './load-advice.ts'

/** Share of calls that may be refused: callers make mistakes and meet limits. Decision. */
export const REFUSED_SHARE_MAX = 0.2
/** Calls below which the live view reports no share. Decision. */
export const REFUSED_OF_MIN = 20

export interface Refused {
  /** All calls. */
  readonly all: number
  /** Calls answered with 4xx. */
  readonly refused: number
  /** Refused calls by failure code. */
  readonly codes: ReadonlyMap<string, number>
}

/** Advice about a high share of refused calls: the most frequent code, and the operator's remedy. */
export function refusals({ all, refused, codes }: Refused): Advice | null {
  if (all < REFUSED_OF_MIN || refused <= all * REFUSED_SHARE_MAX) return null
  const [code] = [...codes].sort(([, a], [, b]) => b - a)[0] ?? []
  if (code === undefined || !isName(code))
    return { detail: `${percentText(refused / all)} of calls are refused (4xx)`, fix: logOf('') }
  const detail = `${percentText(refused / all)} of calls are refused (4xx), most of them with ${code}`
  const { fix = null, page } = REMEDIES[code] ?? {}
  const log = logOf(` of the failure \`${code}\``)
  return { detail, fix: fix === null ? log : `${fix}; ${log}`, ...(page !== undefined && { page }) }
}

function logOf(which: string): string {
  return `the log tells whose calls: \`call_failed\`${which}, by operation and key`
}

function isName(code: string): code is FailureName {
  return Object.hasOwn(FAILURES, code)
}

/** Remedies of the operator; all other refusals only the callers can solve. */
const REMEDIES: Readonly<Partial<Record<FailureName, Pick<Advice, 'fix' | 'page'>>>> = {
  credentials_missing: { fix: 'give the callers a key', page: 'keys' },
  key_unknown: {
    fix: 'see whether a key was deleted that is still in use, and give its callers another',
    page: 'keys',
  },
  key_expired: { fix: 'rotate the key, or make another for its callers', page: 'keys' },
  key_disabled: { fix: 'enable the key, or take it from its callers', page: 'keys' },
  wrong_key_kind: { fix: 'calls of models take inference keys, the rest management keys', page: 'keys' },
  rate_limited: {
    fix: 'raise the requests a minute of the key, or let its callers wait as `Retry-After` says',
    page: 'keys',
  },
  tokens_over_limit: { fix: 'raise the tokens a minute of the key', page: 'keys' },
  key_limit_exceeded: { fix: 'raise the limit of the key', page: 'keys' },
  model_not_allowed: { fix: 'see which models the key may use', page: 'keys' },
  credit_exhausted: { fix: 'add credit', page: 'spend' },
  budget_exceeded: { fix: 'raise the budget of the workspace, or wait until it begins anew', page: 'spend' },
  cost_unbounded: { fix: 'see which limits the workspace and its keys have', page: 'spend' },
  model_unknown: { fix: 'see what the catalogue calls its models', page: 'models' },
  endpoint_unconfigured: { fix: 'give the node the key of a provider that serves the model', page: 'models' },
  quota_exceeded: { fix: 'remove files of the workspace', page: 'files' },
  video_jobs_full: { fix: 'see whether the jobs of the workspace get on', page: 'jobs' },
}
