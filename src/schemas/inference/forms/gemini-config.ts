import { geminiThinking } from './gemini-thinking.ts'
import type { Prompt } from './prompt.ts'
import type { RefusedMember, WriteTerms } from './write-terms.ts'

/** Texts at which an answer of Gemini stops. */
const STOPS_MAX = 5
/** Seeds of Gemini are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1

export interface WrittenConfig {
  /** `generationConfig` */
  readonly config: Readonly<Record<string, unknown>>
  readonly dropped: readonly string[]
  readonly refused: readonly RefusedMember[]
}

/** What tunes, bounds and forms the answer. */
export function geminiConfig(prompt: Prompt, terms: WriteTerms): WrittenConfig {
  const { tuning, stops } = prompt
  const { seed, topK } = tuning
  const hasSeed = seed !== null && Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX
  const hasTopK = topK !== null && Number.isInteger(topK) && topK > 0
  const thinking = geminiThinking(prompt, terms)
  const tokensMax = prompt.tokensMax ?? terms.tokensMax
  const config = {
    ...told('temperature', tuning.temperature),
    ...told('topP', tuning.topP),
    ...(hasTopK && { topK }),
    ...told('maxOutputTokens', tokensMax),
    ...(stops.length > 0 && { stopSequences: stops }),
    ...(hasSeed && { seed }),
    ...told('presencePenalty', tuning.presencePenalty),
    ...told('frequencyPenalty', tuning.frequencyPenalty),
    ...formatMembers(prompt),
    ...told('thinkingConfig', thinking.config),
  }
  const dropped = [
    ...(seed !== null && !hasSeed ? ['seed'] : []),
    // Servers take 0 and -1 for all tokens, which is the default.
    ...(topK !== null && !hasTopK && topK > 0 ? ['top_k'] : []),
    ...thinking.dropped,
  ]
  return { config, dropped, refused: stops.length > STOPS_MAX ? [TOO_MANY_STOPS] : [] }
}

const TOO_MANY_STOPS: RefusedMember = {
  path: '/stop',
  message: `The provider stops at ${STOPS_MAX} texts at most.`,
  expected: `at most ${STOPS_MAX} texts`,
}

function told(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === null ? {} : { [name]: value }
}

/** The name of a schema is the caller's alone; its description goes to where the model reads it. */
function formatMembers({ format }: Prompt): Readonly<Record<string, unknown>> {
  if (format === null) return {}
  const json = { responseMimeType: 'application/json' }
  if (format.kind === 'json_object') return json
  const { schema, description } = format
  return { ...json, responseJsonSchema: description === null ? schema : { description, ...schema } }
}
