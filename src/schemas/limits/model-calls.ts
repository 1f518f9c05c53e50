import Type, { type Static, type TSchema } from 'typebox'
import { REPORTED_TOKENS_MAX } from '../inference/token-limits.ts'
import { DEFAULT_OUTPUT_TOKENS_MIN, PARALLEL_MAX, RATE_LIMIT_TPM_MAX } from './rate-limits.ts'

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

/** Limits of keys and of workspaces for their calls to models; null: no limit. */
export const CallLimits = Type.Object({
  max_parallel: nullable(
    Type.Integer({
      minimum: 1,
      maximum: PARALLEL_MAX,
      description:
        'Sluice extension: maximum number of concurrent model calls; null for no limit. Video jobs do not count towards this limit.',
    }),
  ),
  rate_limit_tpm: nullable(
    Type.Integer({
      minimum: 1,
      maximum: RATE_LIMIT_TPM_MAX,
      description:
        'Sluice extension: prompt and output tokens per minute, all of which may be used at once; null for no limit.',
    }),
  ),
  default_max_output_tokens: nullable(
    Type.Integer({
      minimum: DEFAULT_OUTPUT_TOKENS_MIN,
      maximum: REPORTED_TOKENS_MAX,
      description:
        'Sluice extension: output tokens assumed when a call does not set a maximum and a spending limit applies. ' +
        "A key's value takes precedence over its workspace's value; if both are null, the endpoint's maximum is used.",
    }),
  ),
})
export type CallLimits = Static<typeof CallLimits>

/** The same fields in bodies; omitted fields keep their value. */
export const CALL_LIMIT_FIELDS = Type.Partial(CallLimits).properties

export const NO_CALL_LIMITS: CallLimits = {
  max_parallel: null,
  rate_limit_tpm: null,
  default_max_output_tokens: null,
}

const NAMES = Object.keys(NO_CALL_LIMITS) as readonly (keyof CallLimits)[]

/** The limit fields that a body or a stored object contains. */
export function callLimitsIn(given: Partial<CallLimits>): Partial<CallLimits> {
  return Object.fromEntries(NAMES.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

/** All limit fields for a stored object, which contains only those that were ever set. */
export function callLimitsOf(stored: Partial<CallLimits>): CallLimits {
  return { ...NO_CALL_LIMITS, ...callLimitsIn(stored) }
}

/** The limits that apply to the calls of a key. */
export interface LimitsOfCalls {
  readonly key: CallLimits
  readonly workspace: CallLimits
}

/** Null: neither the key nor its workspace has limits. */
export function limitsOfCalls(
  key: Partial<CallLimits>,
  workspace: Partial<CallLimits>,
): LimitsOfCalls | null {
  const isAny = [key, workspace].some((stored) => NAMES.some((name) => (stored[name] ?? null) !== null))
  return isAny ? { key: callLimitsOf(key), workspace: callLimitsOf(workspace) } : null
}

/** Whether calls are limited by their number or by their tokens. */
export function isCallLimited(limits: LimitsOfCalls | null | undefined): limits is LimitsOfCalls {
  return isLimiting(limits?.key) || isLimiting(limits?.workspace)
}

function isLimiting(limits: CallLimits | undefined): boolean {
  return limits !== undefined && (limits.max_parallel !== null || limits.rate_limit_tpm !== null)
}

/** The token maximum of an answer when the call names none; null: neither the key nor its workspace sets one. */
export function defaultOutputTokens(limits: LimitsOfCalls | null | undefined): number | null {
  return limits?.key.default_max_output_tokens ?? limits?.workspace.default_max_output_tokens ?? null
}
