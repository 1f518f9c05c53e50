import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { TokenUsage } from '../parts.ts'
import { countOf, searchesOf, withSearches } from '../usage.ts'
import { USAGE_OURS } from '../../schemas/inference/text-members.ts'
import { USAGE_BYTES_MAX } from '../../schemas/models/provider-limits.ts'

/**
 * Usage reported by a provider of responses, in buckets that do not overlap: the input includes cached
 * tokens, the output includes reasoning. A server that leaves reasoning out of the output includes it only in
 * the total.
 * @param hasOutput output was delivered, so figures without output are a mistake
 * @returns null: figures are missing, or are not credible
 */
export function responsesUsageOf(usage: Members, hasOutput: boolean): TokenUsage | null {
  const input = countOf(usage['input_tokens'])
  const output = countOf(usage['output_tokens'])
  // A count of 0 is not credible: no model writes without a prompt.
  if (input === null || output === null || input === 0) return null
  const details = membersOf(usage['input_tokens_details'])
  const read = Math.min(countOf(details['cached_tokens']) ?? 0, input)
  const written = Math.min(countOf(details['cache_write_tokens']) ?? 0, input - read)
  const reportedReasoning = countOf(membersOf(usage['output_tokens_details'])['reasoning_tokens']) ?? 0
  const beside = (countOf(usage['total_tokens']) ?? 0) - input - output
  const isBeside = beside > 0 && (reportedReasoning === 0 || reportedReasoning === beside)
  const reasoning = isBeside ? beside : Math.min(reportedReasoning, output)
  const text = isBeside ? output : output - reasoning
  if (hasOutput && text + reasoning === 0) return null
  return { input: input - read - written, cacheRead: read, cacheWrite: written, output: text, reasoning }
}

/** Used for searches of an answer whose provider reported no tokens; the tokens are estimated. */
const NO_TOKENS: TokenUsage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/**
 * The usage with the web searches that the items show; providers of responses report them nowhere else.
 * @param tokens null: no credible counts @returns null: neither tokens nor searches are known
 */
export function usageWithItems(tokens: TokenUsage | null, searches: number): TokenUsage | null {
  return searches === 0 ? tokens : withSearches(tokens ?? NO_TOKENS, searchesOf(searches))
}

export interface ReportedUsage {
  readonly tokens: TokenUsage
  /** JSON of the provider's members, without braces. */
  readonly members: Buffer
}

/**
 * The usage that a provider reported, with the figures that validating clients require, and without Sluice's
 * own members.
 * @param json one JSON value; null: not reported
 * @param hasOutput output was delivered
 * @returns null: missing, or not credible
 */
export function reportedUsageOf(json: Buffer | null, hasOutput: boolean): ReportedUsage | null {
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
