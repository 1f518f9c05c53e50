import { isFailure, OPERATOR_REMEDIES } from '../../schemas/failure-words.ts'
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
  if (code === undefined || !isFailure(code))
    return { detail: `${percentText(refused / all)} of calls are refused (4xx)`, fix: logOf('') }
  const detail = `${percentText(refused / all)} of calls are refused (4xx), most of them with ${code}`
  const { fix = null, page } = OPERATOR_REMEDIES[code] ?? {}
  const log = logOf(` with the failure \`${code}\``)
  return { detail, fix: fix === null ? log : `${fix}; ${log}`, ...(page !== undefined && { page }) }
}

function logOf(which: string): string {
  return `find the operations and keys of these calls in the log: \`call_failed\`${which}`
}
