import type { Static } from 'typebox'
import { USAGE_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { TokenUsage, ShownUsage } from '../parts.ts'
import { countOf, searchesOf, withSearches, withMedia } from '../usage.ts'
import type { ChatUsage } from '../../schemas/inference/chat.ts'
import type { PaidUsage } from '../answers.ts'
import { inputTokens, outputTokens, type MediaFigures, usdOfNano } from '../../schemas/money/costs.ts'
import { shownTier } from '../../schemas/models/price-conditions.ts'

/** As `chatTokensOf`. @param json one JSON object */
export function chatUsageOf(json: Uint8Array, hasOutput: boolean): TokenUsage | null {
  if (json.length > USAGE_BYTES_MAX) return null
  return chatTokensOf(membersOf(JSON.parse(Buffer.from(json).toString('utf8'))), hasOutput)
}

/**
 * Usage reported by a provider of chat, in buckets that do not overlap. OpenAI counts cached input in the
 * prompt and reasoning in the completion. xAI and Google leave reasoning out of the completion, and only the
 * total includes it. DeepSeek and Moonshot report cached input in members of their own.
 * @param hasOutput output was delivered, so figures without output are a mistake
 * @returns null: figures are missing or are not valid counts
 */
export function chatTokensOf(usage: Members, hasOutput: boolean): TokenUsage | null {
  const prompt = countOf(usage['prompt_tokens'])
  const completion = countOf(usage['completion_tokens'])
  if (prompt === null || completion === null) return null
  const cached = membersOf(usage['prompt_tokens_details'])
  const written = membersOf(usage['completion_tokens_details'])
  const cacheRead = firstCount([
    cached['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  ])
  const cacheWrite = firstCount([cached['cache_write_tokens'], usage['cache_creation_input_tokens']])
  const reportedReasoning = firstCount([written['reasoning_tokens'], usage['reasoning_tokens']])
  const beside = (countOf(usage['total_tokens']) ?? 0) - prompt - completion
  const isBeside = beside > 0 && (reportedReasoning === 0 || reportedReasoning === beside)
  const reasoning = isBeside ? beside : Math.min(reportedReasoning, completion)
  const output = isBeside ? completion : completion - reasoning
  if (hasOutput && output + reasoning === 0) return null
  const read = Math.min(cacheRead, prompt)
  const kept = Math.min(cacheWrite, prompt - read)
  const tokens = withMedia(
    { input: prompt - read - kept, cacheRead: read, cacheWrite: kept, output, reasoning },
    {
      audio: firstCount([cached['audio_tokens']]),
      image: firstCount([cached['image_tokens']]),
      audioRead: 0,
      audioOutput: firstCount([written['audio_tokens']]),
    },
  )
  // OpenRouter-style servers report it.
  return withSearches(tokens, searchesOf(membersOf(usage['server_tool_use'])['web_search_requests']))
}

/** The first figure that is given; null and absent figures count as 0. */
function firstCount(figures: readonly unknown[]): number {
  for (const figure of figures) {
    const count = countOf(figure)
    if (count !== null) return count
  }
  return 0
}

type Usage = Static<typeof ChatUsage>

/**
 * Usage in the form of chat, which counts cached tokens in the prompt and reasoning in the completion.
 * Written without a spread, so that all returned objects have the same hidden class.
 * @param nano the charged part of its cost
 */
export function chatUsage({ usage, isByok, isEstimated, reported }: PaidUsage, nano: number): ShownUsage {
  const [prompt, completion] = [inputTokens(usage), outputTokens(usage)]
  const shown: Usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    cost: usdOfNano(nano),
    cost_details: {
      upstream_inference_cost: null,
      upstream_inference_prompt_cost: 0,
      upstream_inference_completions_cost: 0,
    },
    is_byok: isByok,
  }
  if (usage.media !== undefined) addMedia(shown, usage.media)
  if (isEstimated) shown.is_estimated = true
  const { searches = 0 } = usage
  if (searches > 0) shown.server_tool_use = { web_search_requests: searches }
  return { whole: JSON.stringify(shown), added: null, ...shownTier(reported) }
}

/** Counts of 0 are left out. */
function addMedia(
  { prompt_tokens_details: prompt, completion_tokens_details: completion }: Usage,
  { audio, audioRead, image, audioOutput }: MediaFigures,
): void {
  if (audio + audioRead > 0) prompt.audio_tokens = audio + audioRead
  if (image > 0) prompt.image_tokens = image
  if (audioOutput > 0) completion.audio_tokens = audioOutput
}
