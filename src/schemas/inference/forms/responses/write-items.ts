import type { Members } from '../../../values/members.ts'
import { fittingId, RESPONSES_CALL_ID } from '../../../../dialects/calls.ts'
import { returnedSignature, SIGNATURE_FORMATS, takenBack } from '../../../../dialects/signatures.ts'
import { freeformInputOf } from '../../../../dialects/freeform-tools.ts'
import type { AssistantPart, PromptReasoning, Signature, Turn } from '../../../../dialects/prompt.ts'
import type { PromptDraft } from '../../../../dialects/prompt-draft.ts'
import { erroneous } from '../tool-errors.ts'
import type { WriteTerms } from '../../../../dialects/write-terms.ts'
import { writeItemPart } from '../../../../dialects/responses/request-parts.ts'

/** The format of the endpoint's own signatures: not every provider of responses is OpenAI. */
export function ownFormat({ signatureFormats }: Pick<WriteTerms, 'signatureFormats'>): string {
  return signatureFormats[0] ?? SIGNATURE_FORMATS.responses
}

/** Items of the input, in the order of the turns. */
export function writeItems(draft: PromptDraft, turns: readonly Turn[]): readonly Members[] {
  return turns.flatMap((turn) => itemsOf(draft, turn))
}

function itemsOf(draft: PromptDraft, turn: Turn): readonly Members[] {
  switch (turn.role) {
    case 'system':
    case 'user': {
      const parts = turn.parts.map((part) => writeItemPart(part, 'input_text'))
      return [{ type: 'message', role: turn.role, content: parts.length === 0 ? '' : parts }]
    }
    case 'tool': {
      const parts = turn.isError ? erroneous(turn.parts) : turn.parts
      const [first] = parts
      const isText = parts.length === 0 || (parts.length === 1 && first?.kind === 'text')
      const text = first?.kind === 'text' ? first.text : ''
      const output = isText ? text : parts.map((part) => writeItemPart(part, 'input_text'))
      const isFreeform = draft.isSameForm && turn.isFreeform === true
      const type = isFreeform ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id: idOf(draft, turn.callId), output }]
    }
    case 'assistant':
      return modelItems(draft, turn.parts)
  }
}

function idOf(draft: PromptDraft, id: string): string {
  return draft.isSameForm ? id : fittingId(id, RESPONSES_CALL_ID)
}

/** Texts that follow each other are one message. */
function modelItems(draft: PromptDraft, parts: readonly AssistantPart[]): readonly Members[] {
  const items: Members[] = []
  let texts: Members[] = []
  const flush = (): void => {
    if (texts.length > 0) items.push({ type: 'message', role: 'assistant', content: texts })
    texts = []
  }
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'refusal') texts.push(writeItemPart(part, 'output_text'))
    else {
      flush()
      if (part.kind === 'reasoning') items.push(...reasoningItems(draft, part))
      else items.push(callItem(draft, part), ...signatureItems(draft, part.signature))
    }
  }
  flush()
  return items
}

function callItem(draft: PromptDraft, call: Extract<AssistantPart, { readonly kind: 'call' }>): Members {
  const { name, arguments: json, origin } = call
  const id = { call_id: idOf(draft, call.id) }
  if (!draft.isSameForm || origin === undefined)
    return { type: 'function_call', ...id, name, arguments: json }
  const own = { ...id, name: origin.name, ...(origin.namespace !== null && { namespace: origin.namespace }) }
  return origin.isFreeform
    ? { type: 'custom_tool_call', ...own, input: freeformInputOf(call) }
    : { type: 'function_call', ...own, arguments: json }
}

/** The signature of a call, behind the call. */
function signatureItems(draft: PromptDraft, signature: Signature | null): readonly Members[] {
  const kept = takenBack(signature, draft.terms)
  if (signature !== null && kept === null) draft.drop('reasoning', draft.turnsPath)
  if (kept === null) return []
  return [
    {
      type: 'reasoning',
      summary: [],
      encrypted_content: returnedSignature(
        { signature: kept, of: 'call' },
        { format: ownFormat(draft.terms) },
      ),
    },
  ]
}

/** Without what it is encrypted by, OpenAI knows no reasoning that it has not stored. */
function reasoningItems(draft: PromptDraft, part: PromptReasoning): readonly Members[] {
  const kept = takenBack(part.signature, draft.terms)
  if (kept === null) {
    draft.drop('reasoning', draft.turnsPath)
    return []
  }
  const of = part.isRedacted ? 'redacted' : 'reasoning'
  // OpenAI takes summaries alone.
  const isSummary = part.isSummary || draft.terms.isMaker
  const summary = isSummary && part.text !== '' ? [{ type: 'summary_text', text: part.text }] : []
  const content = isSummary || part.text === '' ? [] : [{ type: 'reasoning_text', text: part.text }]
  return [
    {
      type: 'reasoning',
      ...(part.id !== null && { id: part.id }),
      summary,
      ...(content.length > 0 && { content }),
      encrypted_content: returnedSignature({ signature: kept, of }, { format: ownFormat(draft.terms) }),
    },
  ]
}
