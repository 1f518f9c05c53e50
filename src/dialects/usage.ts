import { TIER_CHARS_MAX, TIER_MEMBERS } from '../schemas/models/price-conditions.ts'
import type { Members } from '../schemas/values/members.ts'
import type { ReportedTiers, TokenUsage, ShownUsage, AnswerPieces } from './parts.ts'
import { REPORTED_TOKENS_MAX } from '../schemas/inference/token-limits.ts'
import { bytesOf } from '../schemas/values/json-bytes.ts'
import { MEDIA_KINDS, type MediaFigures } from '../schemas/money/costs.ts'

/** The most web searches that a provider can report for a call; a higher figure is reduced to this. Decision. */
export const REPORTED_SEARCHES_MAX = 10_000

export const NOTHING_REPORTED: ReportedTiers = {}

/** The tiers reported so far, with those in `members`. @param members in which the answer may report more */
export function reportedWith(reported: ReportedTiers, members: Members): ReportedTiers {
  let more: ReportedTiers | null = null
  for (const member of TIER_MEMBERS) {
    const tier = members[member]
    if (typeof tier !== 'string' || tier === '' || tier.length > TIER_CHARS_MAX) continue
    if (tier !== reported[member]) more = { ...(more ?? reported), [member]: tier }
  }
  return more ?? reported
}

/**
 * Web searches that a provider reports, or that its answer shows: at most REPORTED_SEARCHES_MAX, which
 * exceeds the bound of any call. 0 for a missing figure or one that is not a count.
 */
export function searchesOf(figure: unknown): number {
  return Number.isSafeInteger(figure) ? Math.min(Math.max(0, Number(figure)), REPORTED_SEARCHES_MAX) : 0
}

/** The usage with this number of searches, if it is not 0. */
export function withSearches(usage: TokenUsage, searches: number): TokenUsage {
  return searches === 0 ? usage : { ...usage, searches }
}

/** A count of tokens that a provider reports; null for a missing figure or one that is not a count. */
export function countOf(figure: unknown): number | null {
  const isCount = Number.isSafeInteger(figure) && Number(figure) >= 0 && Number(figure) <= REPORTED_TOKENS_MAX
  return isCount ? Number(figure) : null
}

/**
 * The usage with its audio and image tokens, if any. Each figure is capped at its bucket, whatever the
 * provider reports.
 */
export function withMedia(usage: TokenUsage, reportedMedia: MediaFigures): TokenUsage {
  const { input, cacheRead, output } = usage
  const audio = Math.min(reportedMedia.audio, input)
  const media = {
    audio,
    image: Math.min(reportedMedia.image, input - audio),
    audioRead: Math.min(reportedMedia.audioRead, cacheRead),
    audioOutput: Math.min(reportedMedia.audioOutput, output),
  }
  return MEDIA_KINDS.some((kind) => media[kind] > 0) ? { ...usage, media } : usage
}

/** The member of a chat or messages usage that reports web searches; empty if there were no searches. */
export function serverToolUse({ searches = 0 }: Pick<TokenUsage, 'searches'>): {
  readonly server_tool_use?: { readonly web_search_requests: number }
} {
  return searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }
}

const OPEN = Buffer.from('{')

/** An answer, or an event, with its usage. */
export function usageBetween(
  { before, usageMembers, after }: AnswerPieces,
  { whole, added }: ShownUsage,
): readonly Uint8Array[] {
  if (usageMembers === null || added === null) return [...before, Buffer.from(whole), ...after]
  const comma = bytesOf(usageMembers) === 0 ? '' : ','
  return [...before, OPEN, ...usageMembers, Buffer.from(`${comma}${added}}`), ...after]
}
