import { geminiUserPart, type GeminiPart } from './gemini-media.ts'
import type { PromptCall, Turn } from '../../../../dialects/prompt.ts'

type ToolTurn = Extract<Turn, { readonly role: 'tool' }>

export interface GeminiResult {
  /** `functionResponse` */
  readonly response: GeminiPart
  /** Media of the result, which have to stand behind all responses. */
  readonly beside: readonly GeminiPart[]
}

/**
 * The result of a call, which is known by its place and its name alone.
 * @param mayNest the model takes media within the response
 */
export function geminiResult(turn: ToolTurn, { name }: PromptCall, mayNest: boolean): GeminiResult {
  const nested: GeminiPart[] = []
  const beside: GeminiPart[] = []
  for (const part of mediaOf(turn)) (mayNest && 'inlineData' in part ? nested : beside).push(part)
  const text = resultText(turn)
  const response = {
    name,
    response: turn.isError ? { error: text } : { output: text },
    ...(nested.length > 0 && { parts: nested }),
  }
  return { response: { functionResponse: response }, beside }
}

/** A result that answers no call of the conversation, which Google would refuse as a response. */
export function strayResult(turn: ToolTurn): readonly GeminiPart[] {
  return [{ text: `<tool_result>\n${resultText(turn)}\n</tool_result>` }, ...mediaOf(turn)]
}

function mediaOf({ parts }: ToolTurn): readonly GeminiPart[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [] : geminiUserPart(part)))
}

function resultText({ parts }: ToolTurn): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}
