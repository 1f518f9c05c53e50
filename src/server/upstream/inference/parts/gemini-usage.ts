import { membersOf } from '../../../../schemas/values/members.ts'
import type { TokenUsage } from '../../../ports/inference/inference.ts'
import { countOf } from '../text-usage.ts'

/**
 * Usage as Gemini tells it, in buckets that do not overlap. The prompt includes what a cache had, and leaves
 * out what the provider's own tools put before the model. Thoughts are apart from the answer; servers that
 * count them within it are known by their total. A figure that is 0 is left out. D24.
 * @param usage `usageMetadata`
 * @returns null: a figure is no count, or there is none of the prompt
 */
export function geminiUsageOf(usage: unknown): TokenUsage | null {
  const told = membersOf(usage)
  const figure = (name: string): number | null => (name in told ? countOf(told[name]) : 0)
  const prompt = countOf(told['promptTokenCount'])
  const ofTools = figure('toolUsePromptTokenCount')
  const cached = figure('cachedContentTokenCount')
  const answer = figure('candidatesTokenCount')
  const thoughts = figure('thoughtsTokenCount')
  if (prompt === null || ofTools === null || cached === null || answer === null || thoughts === null)
    return null
  const isWithin = countOf(told['totalTokenCount']) === prompt + ofTools + answer && thoughts <= answer
  const cacheRead = Math.min(cached, prompt)
  return {
    input: prompt - cacheRead + ofTools,
    cacheRead,
    cacheWrite: 0,
    output: isWithin ? answer - thoughts : answer,
    reasoning: thoughts,
  }
}
