import { InvalidArgumentError, type Command } from 'commander'
import type { CallLimits } from '../../../schemas/limits/model-calls.ts'
import {
  DEFAULT_OUTPUT_TOKENS_MIN,
  PARALLEL_MAX,
  RATE_LIMIT_TPM_MAX,
} from '../../../schemas/limits/rate-limits.ts'
import { REPORTED_TOKENS_MAX } from '../../../schemas/inference/token-limits.ts'

/** Value of an option that removes a limit: the parser of options cannot return null. */
export const NONE = 'none'
export type None = typeof NONE

/** Options for the calls of a key, or of a workspace, to models. */
export interface CallLimitOptions {
  readonly parallel?: number | None
  readonly tpm?: number | None
  readonly defaultMaxOutput?: number | None
}

export function addCallLimitOptions(verb: Command): Command {
  return verb
    .option('--parallel <count>', `maximum concurrent model calls, or ${NONE}`, countFrom(1, PARALLEL_MAX))
    .option('--tpm <count>', `maximum tokens per minute, or ${NONE}`, countFrom(1, RATE_LIMIT_TPM_MAX))
    .option(
      '--default-max-output <tokens>',
      `default maximum output tokens for calls under a spending limit, or ${NONE}`,
      countFrom(DEFAULT_OUTPUT_TOKENS_MIN, REPORTED_TOKENS_MAX),
    )
}

/** The given limits, as a member of the changes of their owner. */
export function callLimitsFrom({ parallel, tpm, defaultMaxOutput }: CallLimitOptions): {
  readonly callLimits?: Partial<CallLimits>
} {
  const callLimits = {
    ...(parallel !== undefined && { max_parallel: orNull(parallel) }),
    ...(tpm !== undefined && { rate_limit_tpm: orNull(tpm) }),
    ...(defaultMaxOutput !== undefined && { default_max_output_tokens: orNull(defaultMaxOutput) }),
  }
  return Object.keys(callLimits).length === 0 ? {} : { callLimits }
}

export function orNull<T>(value: T | None): T | null {
  return value === NONE ? null : value
}

/** Parses a whole number, or the word that removes a limit. */
export function countFrom(min: number, max: number): (text: string) => number | None {
  return (text) => {
    if (text === NONE) return NONE
    const count = Number(text)
    if (!/^\d+$/.test(text) || count < min || count > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}, or ${NONE}.`)
    return count
  }
}
