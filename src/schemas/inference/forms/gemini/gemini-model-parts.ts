import { argumentsObject } from '../call-arguments.ts'
import { takenBack } from '../../../../dialects/signatures.ts'
import type { GeminiPart } from './gemini-media.ts'
import type { AssistantPart, PromptCall, PromptReasoning, Signature } from '../../../../dialects/prompt.ts'

/**
 * Stands for the signature of a step that another model made: Gemini 3 refuses a step with calls whose first
 * one has none. Google's page on thought signatures names it for that.
 */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator'

export interface ModelTerms {
  /** Formats of signatures that the endpoint takes back. */
  readonly signatureFormats: readonly string[]
  /** The first call of a step needs a signature. */
  readonly isSigned: boolean
}

export interface ModelParts {
  readonly parts: readonly GeminiPart[]
  /** A signature of another provider was left out. */
  readonly isReasoningDropped: boolean
}

/**
 * What a model wrote, with the signatures where Google gave them: on a call, on a text, or on an empty text
 * where the turn has none. A signature without reasoning of its own comes from a text: dialects keep it beside
 * the text, and some of them before it.
 */
export function geminiModelParts(written: readonly AssistantPart[], terms: ModelTerms): ModelParts {
  const parts: GeminiPart[] = []
  let isReasoningDropped = false
  let waiting: Signature | null = null
  const add = (part: GeminiPart): void => {
    const mayTake = waiting !== null && 'text' in part && part['thought'] === undefined
    parts.push(mayTake ? { ...part, thoughtSignature: waiting?.data } : part)
    if (mayTake) waiting = null
  }
  const settle = (): void => {
    if (waiting !== null) parts.push({ text: '', thoughtSignature: waiting.data })
    waiting = null
  }
  for (const part of written) {
    const given = 'signature' in part ? part.signature : null
    const signature = takenBack(given, terms)
    if (given !== null && signature === null) isReasoningDropped = true
    if (isBare(part)) {
      if (signature === null || signOf(parts, signature)) continue
      settle()
      waiting = signature
    } else {
      const one = partOf(part, signature)
      if (one !== null) add(one)
    }
  }
  settle()
  return { parts: terms.isSigned ? withFirstSigned(parts) : parts, isReasoningDropped }
}

/** The part is a signature alone. */
function isBare(part: AssistantPart): part is PromptReasoning {
  return part.kind === 'reasoning' && (part.isRedacted || part.text === '')
}

/** Signs the text that came last. @returns false: there is none without a signature */
function signOf(parts: GeminiPart[], signature: Signature): boolean {
  const last = parts.at(-1)
  if (last === undefined || !('text' in last)) return false
  if (last['thought'] !== undefined || last['thoughtSignature'] !== undefined) return false
  parts[parts.length - 1] = { ...last, thoughtSignature: signature.data }
  return true
}

function partOf(part: AssistantPart, signature: Signature | null): GeminiPart | null {
  const signed = signature === null ? {} : { thoughtSignature: signature.data }
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? null : { text: part.text }
    case 'reasoning':
      return { text: part.text, thought: true, ...signed }
    case 'call':
      return { functionCall: callOf(part), ...signed }
  }
}

function callOf(call: PromptCall): object {
  return { name: call.name, args: argumentsObject(call.arguments) }
}

function withFirstSigned(parts: readonly GeminiPart[]): readonly GeminiPart[] {
  const first = parts.findIndex((part) => 'functionCall' in part)
  return parts.map((part, at) =>
    at === first && part['thoughtSignature'] === undefined
      ? { ...part, thoughtSignature: FOREIGN_SIGNATURE }
      : part,
  )
}
