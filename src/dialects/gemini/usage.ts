import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { TokenUsage } from '../parts.ts'
import { countOf, withMedia } from '../usage.ts'
import type { MediaFigures } from '../../schemas/money/costs.ts'

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
  const tokens = {
    input: prompt - cacheRead + ofTools,
    cacheRead,
    cacheWrite: 0,
    output: isWithin ? answer - thoughts : answer,
    reasoning: thoughts,
  }
  return withMedia(tokens, mediaIn(told))
}

const SOUND = 'AUDIO'
const PICTURE = 'IMAGE'

/** Google counts by kinds of media beside its sums, of which the prompt's have what a cache had. */
function mediaIn(told: Members): MediaFigures {
  const [prompt, ofTools] = [told['promptTokensDetails'], told['toolUsePromptTokensDetails']]
  const [cached, answer] = [told['cacheTokensDetails'], told['candidatesTokensDetails']]
  const fresh = (kind: string): number =>
    Math.max(0, tokensOf(prompt, kind) - tokensOf(cached, kind)) + tokensOf(ofTools, kind)
  return {
    audio: fresh(SOUND),
    image: fresh(PICTURE),
    audioRead: tokensOf(cached, SOUND),
    audioOutput: tokensOf(answer, SOUND),
  }
}

/** @param details a list of kinds with their counts */
function tokensOf(details: unknown, kind: string): number {
  if (!Array.isArray(details)) return 0
  return (details as readonly unknown[])
    .map(membersOf)
    .filter(({ modality }) => modality === kind)
    .reduce((sum, { tokenCount }) => sum + (countOf(tokenCount) ?? 0), 0)
}
