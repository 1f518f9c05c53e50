/** Prompts in the internal form, each with what a test is about and nothing else. */
import type {
  AskedReasoning,
  Prompt,
  PromptCall,
  PromptReasoning,
  PromptText,
  Signature,
  Tuning,
  Turn,
  UserPart,
} from '../../../src/dialects/prompt/prompt.ts'
import type { WriteTerms } from '../../../src/dialects/prompt/write-terms.ts'

export const UNTUNED: Tuning = {
  temperature: null,
  topP: null,
  topK: null,
  minP: null,
  topA: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  repetitionPenalty: null,
  logitBias: null,
  verbosity: null,
  serviceTier: null,
  cacheKey: null,
  user: null,
  metadata: null,
}

export const EMPTY_PROMPT: Prompt = {
  dialect: 'chat',
  turns: [],
  tools: [],
  toolChoice: null,
  isParallel: null,
  tokensMax: null,
  stops: [],
  tuning: UNTUNED,
  reasoning: null,
  format: null,
  isStream: false,
  cache: null,
  others: [],
}

export const TERMS: WriteTerms = {
  upstreamModel: 'gemini-2.5-flash',
  tokensMax: null,
  isStrict: false,
  isMaker: true,
  signatureFormats: ['google-gemini-v1'],
}

export function statedText(text: string): PromptText {
  return { kind: 'text', text, cache: null }
}

export function userTurn(...parts: readonly (UserPart | string)[]): Turn {
  return { role: 'user', parts: parts.map((part) => (typeof part === 'string' ? statedText(part) : part)) }
}

export function systemTurn(...texts: readonly string[]): Turn {
  return { role: 'system', parts: texts.map(statedText) }
}

export function calledTool(id: string, name: string, more: Partial<PromptCall> = {}): PromptCall {
  return { kind: 'call', id, name, arguments: '{}', signature: null, cache: null, ...more }
}

export function toolTurn(
  callId: string,
  text: string,
  more: Partial<Extract<Turn, { role: 'tool' }>> = {},
): Turn {
  return { role: 'tool', callId, parts: [statedText(text)], isError: false, cache: null, ...more }
}

export function reasoned(text: string, more: Partial<PromptReasoning> = {}): PromptReasoning {
  const none = { isSummary: false, signature: null, isRedacted: false, id: null, cache: null }
  return { kind: 'reasoning', text, ...none, ...more }
}

export function asked(more: Partial<AskedReasoning>): AskedReasoning {
  const none = { effort: null, budget: null, isOn: null, summary: null }
  return { ...none, isHidden: false, isEncryptedAsked: false, ...more }
}

export function geminiSignature(data: string): Signature {
  return { format: 'google-gemini-v1', data }
}
