import { writeGeminiThinking } from './gemini-thinking.ts'
import type { PromptDraft } from '../prompt-draft.ts'
import type { Prompt } from '../prompt.ts'

/** Seeds of Gemini are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1

/** What tunes, bounds and forms the answer. */
export function writeGeminiConfig(draft: PromptDraft): void {
  const { prompt, terms } = draft
  const { tuning, stops } = prompt
  const config = {
    ...told('temperature', tuning.temperature),
    ...told('topP', tuning.topP),
    ...told('topK', topKOf(draft)),
    ...told('maxOutputTokens', prompt.tokensMax ?? terms.tokensMax),
    ...(stops.length > 0 && { stopSequences: stops }),
    ...told('seed', seedOf(draft)),
    ...told('presencePenalty', tuning.presencePenalty),
    ...told('frequencyPenalty', tuning.frequencyPenalty),
    ...formatMembers(prompt),
    ...told('thinkingConfig', writeGeminiThinking(draft)),
  }
  if (Object.keys(config).length > 0) draft.set('generationConfig', config)
}

function told(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === null ? {} : { [name]: value }
}

/** Null: none, or one that Google refuses. */
function seedOf(draft: PromptDraft): number | null {
  const { seed } = draft.prompt.tuning
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX)) return seed
  draft.drop('seed')
  return null
}

/** Servers take 0 and -1 for all tokens, which is the default. */
function topKOf(draft: PromptDraft): number | null {
  const { topK } = draft.prompt.tuning
  if (topK === null || topK <= 0) return null
  if (Number.isInteger(topK)) return topK
  draft.drop('top_k')
  return null
}

/** The name of a schema is the caller's alone; its description goes to where the model reads it. */
function formatMembers({ format }: Prompt): Readonly<Record<string, unknown>> {
  if (format === null) return {}
  const json = { responseMimeType: 'application/json' }
  if (format.kind === 'json_object') return json
  const { schema, description } = format
  return { ...json, responseJsonSchema: description === null ? schema : { description, ...schema } }
}
