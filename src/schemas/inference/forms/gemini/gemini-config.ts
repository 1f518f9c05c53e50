import { tierOf, USUAL_TIER } from '../../../money/tiers.ts'
import { writeGeminiThinking } from './gemini-thinking.ts'
import type { PromptDraft } from '../../../../dialects/prompt-draft.ts'
import type { AnswerFormat } from '../../../../dialects/prompt.ts'
import { writeTuning } from '../../../../dialects/tuning.ts'

/** Seeds of Gemini are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1
const CONFIG = 'generationConfig'

/** What tunes, bounds and forms the answer. */
export function writeGeminiConfig(draft: PromptDraft): void {
  const { prompt, terms } = draft
  const { tuning, stops, tokensMax, format } = prompt
  writeTuning(draft, tuning, 'gemini')
  leaveRefused(draft)
  writeTier(draft)
  draft.set(`${CONFIG}.maxOutputTokens`, tokensMax ?? terms.tokensMax)
  if (stops.length > 0) draft.set(`${CONFIG}.stopSequences`, stops)
  if (format !== null) writeFormat(draft, format)
  draft.set(`${CONFIG}.thinkingConfig`, writeGeminiThinking(draft))
}

/** What Google refuses. Servers take 0 and -1 for all tokens, which is the default. */
function leaveRefused(draft: PromptDraft): void {
  const { topK, seed } = draft.prompt.tuning
  if (topK !== null && (topK <= 0 || !Number.isInteger(topK))) {
    draft.leave(`${CONFIG}.topK`)
    if (topK > 0) draft.drop('top_k')
  }
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX)) return
  draft.leave(`${CONFIG}.seed`)
  draft.drop('seed')
}

/** Google's names of the tiers that it has, by those of other forms. F6. */
const TIERS: Readonly<Record<string, string>> = {
  [USUAL_TIER]: 'standard',
  flex: 'flex',
  priority: 'priority',
}

function writeTier(draft: PromptDraft): void {
  const { serviceTier } = draft.prompt.tuning
  if (serviceTier === null) return
  const tier = tierOf('service_tier', serviceTier)
  const name = tier === undefined || draft.terms.isWithoutTier === true ? undefined : TIERS[tier]
  draft.leave('service_tier')
  if (name !== undefined) draft.set('service_tier', name)
  else if (tier !== undefined && tier !== USUAL_TIER) draft.drop('service_tier')
}

/** The name of a schema is the caller's alone; its description goes to where the model reads it. */
function writeFormat(draft: PromptDraft, format: AnswerFormat): void {
  draft.set(`${CONFIG}.responseMimeType`, 'application/json')
  if (format.kind === 'json_object') return
  const { schema, description } = format
  draft.set(`${CONFIG}.responseJsonSchema`, description === null ? schema : { description, ...schema })
}
