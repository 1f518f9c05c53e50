import { SIGNATURE_FORMATS, UNKNOWN_FORMAT } from '../../../../dialects/signatures.ts'
import { membersOf } from '../../../../schemas/values/members.ts'
import type { Detail, Said, SaidPart } from './chat-event.ts'
import type { WrittenPart } from '../../../../dialects/parts.ts'

type Signed = Extract<WrittenPart, { kind: 'signature' }>

/** What a choice says beside its calls; a signature with the id that the provider gave it. */
export type ChatPart =
  { readonly part: Exclude<WrittenPart, Signed> } | { readonly part: Signed; readonly id: string | null }

/** In the order in which models write. */
export function saidIn({
  reasoning_details: details,
  reasoning,
  reasoning_content,
  content,
  refusal,
}: Said): readonly ChatPart[] {
  const entries = details ?? []
  return [
    // The same text stands beside the entries.
    ...(entries.length > 0 ? entries.flatMap(detailIn) : textOf('reasoning', reasoning ?? reasoning_content)),
    ...(Array.isArray(content) ? content.flatMap(partIn) : textOf('text', content)),
    ...textOf('refusal', refusal),
  ]
}

function textOf(kind: 'text' | 'reasoning' | 'refusal', text: unknown): readonly ChatPart[] {
  return typeof text === 'string' && text !== '' ? [{ part: { kind, choice: 0, text } }] : []
}

function partIn(part: SaidPart): readonly ChatPart[] {
  if (typeof part === 'string') return textOf('text', part)
  const { type, text, thinking } = part
  if ((type ?? 'text') === 'text') return textOf('text', text)
  if (type !== 'thinking') return []
  const texts = Array.isArray(thinking) ? thinking.map(thoughtIn) : [thinking]
  return texts.flatMap((one) => textOf('reasoning', one))
}

function thoughtIn(part: unknown): unknown {
  return typeof part === 'string' ? part : membersOf(part)['text']
}

function detailIn(detail: Detail): readonly ChatPart[] {
  const { type, text, summary, data, signature, format } = detail
  switch (type) {
    case 'reasoning.text':
      return [...textOf('reasoning', text), ...signed(signature, detail, 'reasoning')]
    case 'reasoning.summary':
      return (summary ?? '') === ''
        ? []
        : [{ part: { kind: 'reasoning', choice: 0, text: summary ?? '', isSummary: true } }]
    case 'reasoning.encrypted':
      // Anthropic alone has reasoning that stands for itself.
      return signed(data, detail, format === SIGNATURE_FORMATS.messages ? 'redacted' : 'reasoning')
    default:
      return []
  }
}

function signed(
  data: string | null | undefined,
  { format, id }: Detail,
  of: Signed['of'],
): readonly ChatPart[] {
  if ((data ?? '') === '') return []
  const signature = { format: format ?? UNKNOWN_FORMAT, data: data ?? '' }
  return [{ part: { kind: 'signature', choice: 0, signature, of }, id: id ?? null }]
}
