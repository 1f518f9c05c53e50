import { USAGE_OURS } from '../../../../schemas/inference/text-members.ts'
import { USAGE_BYTES_MAX } from '../../../../schemas/models/provider-limits.ts'
import { membersOf, type Members } from '../../../../schemas/values/members.ts'
import { responsesUsageOf } from '../../../../dialects/responses/usage.ts'
import type { TokenUsage } from '../../../../dialects/parts.ts'

export interface ToldUsage {
  readonly tokens: TokenUsage
  /** JSON of the provider's members, without braces. */
  readonly members: Buffer
}

/**
 * The usage that a provider told, with the figures that clients which validate require, and without the
 * members of Sluice. D13, D24.
 * @param json one JSON value; null: it told none
 * @param hasOutput output was delivered
 * @returns null: missing, or not credible
 */
export function toldUsageOf(json: Buffer | null, hasOutput: boolean): ToldUsage | null {
  if (json === null || json.length > USAGE_BYTES_MAX) return null
  const usage = membersOf(JSON.parse(json.toString('utf8')))
  const tokens = responsesUsageOf(usage, hasOutput)
  if (tokens === null) return null
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage
  const shown = {
    ...Object.fromEntries(Object.entries(usage).filter(([name]) => !USAGE_OURS.has(name))),
    total_tokens: Number.isSafeInteger(total) ? total : Number(input) + Number(output),
    input_tokens_details: withCount(usage['input_tokens_details'], 'cached_tokens', tokens.cacheRead),
    output_tokens_details: withCount(usage['output_tokens_details'], 'reasoning_tokens', tokens.reasoning),
  }
  return { tokens, members: Buffer.from(JSON.stringify(shown).slice(1, -1)) }
}

function withCount(details: unknown, name: string, count: number): Members {
  const members = membersOf(details)
  return Number.isSafeInteger(members[name]) ? members : { ...members, [name]: count }
}
