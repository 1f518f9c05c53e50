/** Gemini: calls come whole, signatures with what they belong to, and the end without a last event. */
import type { Members } from '../../../../support/inference/accumulated.ts'
import { streamOf, type Provider } from './provider-answer.ts'
import type { FinishReason, WrittenPart } from '../../../../../src/dialects/parts.ts'

const HEAD = { responseId: 'g-1', modelVersion: 'gemini-fake' }
const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
}
const USAGE = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }

export const geminiProvider: Provider = (made, chance) => {
  const parts = partsOf(made)
  const finish = made.find((part) => part.kind === 'finish')
  const finishReason = FINISH[finish?.reason ?? 'stop']
  const groups: Members[][] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (last !== undefined && chance.once(3)) last.push(part)
    else groups.push([part])
  }
  const chunks = groups.map((group) => chunkOf(group))
  const isApart = chunks.length === 0 || chance.once(2)
  const end = { ...chunkOf(isApart ? [] : (groups.at(-1) ?? []), finishReason), usageMetadata: USAGE }
  return {
    stream: streamOf([...(isApart ? chunks : chunks.slice(0, -1)), end]),
    whole: { ...chunkOf(parts, finishReason), usageMetadata: USAGE },
    isInOrder: true,
  }
}

function chunkOf(parts: readonly Members[], finishReason?: string): Members {
  const content = parts.length === 0 ? {} : { content: { role: 'model', parts } }
  return {
    ...HEAD,
    candidates: [{ index: 0, ...content, ...(finishReason !== undefined && { finishReason }) }],
  }
}

/** Google has no refusals, and signs with its own format alone. */
function partsOf(made: readonly WrittenPart[]): readonly Members[] {
  const parts: Members[] = []
  let json = ''
  for (const part of made)
    switch (part.kind) {
      case 'text':
      case 'refusal':
        parts.push({ text: part.text })
        break
      case 'reasoning':
        parts.push({ text: part.text, thought: true })
        break
      case 'tool':
        json = ''
        parts.push({ functionCall: { name: part.name, args: {} } })
        break
      case 'arguments': {
        json += part.text
        const last = parts.pop()
        const { name } = (last?.['functionCall'] ?? {}) as { readonly name?: string }
        parts.push({ functionCall: { name, args: parsed(json) } })
        break
      }
      case 'signature': {
        const last = parts.pop()
        if (last !== undefined) parts.push({ ...last, thoughtSignature: part.signature.data })
        break
      }
      case 'finish':
    }
  return parts
}

/** No members until the last fragment has come. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
