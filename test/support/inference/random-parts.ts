/** What a model may write, in the internal form. */
import fc from 'fast-check'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import type { FinishReason, WrittenPart } from '../../../src/dialects/parts.ts'

const TEXTS = fc.oneof(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.constantFrom('é', '"', '\\', '\n', '😀', '\u2028', '{}', 'data: x', '\ud83d'),
)
const FORMATS = fc.constantFrom('anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1')
const SIGNATURES = fc.record({ format: FORMATS, data: fc.base64String({ minLength: 4, maxLength: 12 }) })
const JSONS = fc.oneof(
  fc.constant('{}'),
  fc
    .dictionary(fc.constantFrom('a', 'b', 'é"'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((members) => JSON.stringify(members)),
)

type Block = readonly WrittenPart[]
const inOrder = (kind: 'text' | 'refusal', texts: readonly string[]): Block =>
  texts.map((text) => ({ kind, choice: 0, text }))
const ofReasoning = (texts: readonly string[], isSummary: boolean): Block =>
  texts.map((text) => ({
    kind: 'reasoning',
    choice: 0,
    text,
    ...(isSummary ? { isSummary: true as const } : null),
  }))

const SAIDOnce = fc.array(TEXTS, { minLength: 1, maxLength: 4 })
const REASONING = fc
  .tuple(fc.array(TEXTS, { maxLength: 3 }), fc.boolean(), fc.option(SIGNATURES), fc.boolean())
  .map(([texts, isSummary, signature, isRedacted]): Block => {
    const signed = (of: 'reasoning' | 'redacted'): Block =>
      signature === null ? [] : [{ kind: 'signature', choice: 0, signature, of }]
    return isRedacted ? signed('redacted') : [...ofReasoning(texts, isSummary), ...signed('reasoning')]
  })

/** @param nth makes the id of the call its own */
function called(nth: number): fc.Arbitrary<Block> {
  const parts = fc.tuple(fc.constantFrom('look', 'f'), JSONS, fc.nat(20), fc.option(SIGNATURES))
  return parts.map(([name, json, cut, signature]): Block => {
    const pieces = [json.slice(0, cut), json.slice(cut)].filter((piece) => piece !== '')
    return [
      { kind: 'tool', choice: 0, id: `call_${nth}`, name },
      ...pieces.map((text) => ({ kind: 'arguments' as const, choice: 0, text })),
      ...(signature === null
        ? []
        : [{ kind: 'signature' as const, choice: 0, signature, of: 'call' as const }]),
    ]
  })
}

/** All parts of one answer, its end with them. */
export const WRITTEN_PARTS: fc.Arbitrary<readonly WrittenPart[]> = fc
  .tuple(
    ...Array.from({ length: 5 }, (_, nth) =>
      fc.oneof(
        SAIDOnce.map((texts) => inOrder('text', texts)),
        SAIDOnce.map((texts) => inOrder('refusal', texts)),
        REASONING,
        called(nth),
      ),
    ),
    fc.nat(5),
    fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
    fc.option(fc.constantFrom('STOP', '\n')),
  )
  .map((made) => {
    const blocks = made.slice(0, 5) as readonly Block[]
    const [count, reason, stopSequence] = made.slice(5) as [number, FinishReason, string | null]
    const finish: WrittenPart = { kind: 'finish', choice: 0, reason, native: `"${reason}"`, stopSequence }
    return [...blocks.slice(0, count).flat(), finish]
  })

/** In the order of a whole answer of chat. */
const ORDER = ['reasoning', 'signature', 'text', 'refusal', 'tool', 'arguments', 'finish']
const isOfCall = (part: WrittenPart): boolean =>
  part.kind === 'tool' || part.kind === 'arguments' || (part.kind === 'signature' && part.of === 'call')
const rankOf = (part: WrittenPart): number => (isOfCall(part) ? ORDER.indexOf('tool') : rankOfKind(part))
const rankOfKind = ({ kind }: WrittenPart): number =>
  kind === 'signature' ? ORDER.indexOf('reasoning') : ORDER.indexOf(kind)

/** The answer as a provider of the protocol would write it. */
export function naturalOf(protocol: Dialect, parts: readonly WrittenPart[]): readonly WrittenPart[] {
  return protocol === 'chat' ? parts.toSorted((one, other) => rankOf(one) - rankOf(other)) : parts
}

/** As responses are read: a text that follows another message's begins with a blank line. */
export function spacedMessages(parts: readonly WrittenPart[]): readonly WrittenPart[] {
  return parts.map((part, at) => {
    const { kind } = part
    const isLater = parts.findIndex((other) => other.kind === kind) < at && parts[at - 1]?.kind !== kind
    return (kind === 'text' || kind === 'refusal') && isLater ? { ...part, text: `\n\n${part.text}` } : part
  })
}
