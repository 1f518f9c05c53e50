/** The turn of a model that a caller gives back, of the parts that it was given. */
import type { AssistantPart, Turn } from '../../../src/dialects/prompt/prompt.ts'
import { calledTool, reasoned, statedText } from './prompts.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'

/** Texts that follow each other are one; a signature stands where it came. */
export function turnOf(written: readonly WrittenPart[]): Extract<Turn, { readonly role: 'assistant' }> {
  const parts: AssistantPart[] = []
  for (const one of written) {
    const last = parts.at(-1)
    const joined = last === undefined ? null : withPart(last, one)
    if (joined !== null) parts[parts.length - 1] = joined
    else if (one.kind === 'tool') parts.push(calledTool(one.id, one.name, { arguments: '' }))
    else if (one.kind === 'text') parts.push(statedText(one.text))
    else if (one.kind === 'reasoning') parts.push(reasoned(one.text, { isSummary: one.isSummary === true }))
    else if (one.kind === 'signature')
      parts.push(reasoned('', { signature: one.signature, isRedacted: one.of === 'redacted' }))
  }
  return { role: 'assistant', parts }
}

/** Null: the part begins a new one. */
function withPart(last: AssistantPart, one: WrittenPart): AssistantPart | null {
  if (one.kind === 'text' && last.kind === 'text') return { ...last, text: last.text + one.text }
  if (one.kind === 'reasoning' && last.kind === 'reasoning' && last.signature === null)
    return { ...last, text: last.text + one.text }
  if (one.kind === 'arguments' && last.kind === 'call')
    return { ...last, arguments: last.arguments + one.text }
  if (one.kind !== 'signature') return null
  const isOfLast = (last.kind === 'reasoning' || last.kind === 'call') && last.kind === one.of
  return isOfLast ? { ...last, signature: one.signature } : null
}
