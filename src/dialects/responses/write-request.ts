import type { Members } from '../../schemas/values/members.ts'
import { hasCachePoint, wholeCache } from '../prompt/cache-points.ts'
import { MAKER_TOKENS_MIN } from '../../schemas/models/openai-maker.ts'
import type {
  AnswerFormat,
  AskedReasoning,
  Prompt,
  Turn,
  AssistantPart,
  PromptReasoning,
  Signature,
} from '../prompt/prompt.ts'
import { PromptDraft } from '../prompt/prompt-draft.ts'
import { writeTuning, effortSent, reasoningMember, writeOpenaiNames } from '../prompt/tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../prompt/write-terms.ts'
import { ENCRYPTED_REASONING } from './read-request.ts'
import { writeTools } from './tools.ts'
import { fittingId, RESPONSES_CALL_ID, erroneous } from '../prompt/calls.ts'
import { returnedSignature, SIGNATURE_FORMATS, takenBack } from '../prompt/signatures.ts'
import { freeformInputOf } from '../prompt/freeform-tools.ts'
import { writeItemPart } from './request-parts.ts'

export function writeResponses(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'responses', terms)
  const { instructions, rest } = split(prompt.turns)
  draft.set('instructions', instructions)
  draft.set('input', writeItems(draft, rest))
  draft.set('store', false)
  draft.set('max_output_tokens', tokensSent(prompt.tokensMax ?? terms.tokensMax, terms))
  writeTuning(draft, prompt.tuning, 'responses')
  writeOpenaiNames(draft)
  writeTools(draft)
  if (prompt.format !== null) draft.set('text.format', formatMember(prompt.format))
  if (prompt.reasoning !== null) writeReasoning(draft, prompt.reasoning)
  if (isEncryptedWanted(prompt, terms)) draft.set('include', [ENCRYPTED_REASONING])
  const cache = terms.isStrict ? null : wholeCache(prompt)
  draft.set('cache_control', cache)
  // Items have no cache marks.
  if (hasCachePoint(cache === null ? prompt : { ...prompt, cache: null })) draft.drop('cache_control')
  if (prompt.isStream) draft.set('stream', true)
  return draft.written()
}

/** Takes the first turn as the instructions if it is a single system text. */
function split(turns: readonly Turn[]): {
  readonly instructions: string | null
  readonly rest: readonly Turn[]
} {
  const [first, ...rest] = turns
  const part = first?.role === 'system' && first.parts.length === 1 ? first.parts[0] : undefined
  return part === undefined ? { instructions: null, rest: turns } : { instructions: part.text, rest }
}

function tokensSent(tokensMax: number | null, { isMaker }: WriteTerms): number | null {
  return tokensMax !== null && isMaker ? Math.max(tokensMax, MAKER_TOKENS_MIN) : tokensMax
}

function writeReasoning(draft: PromptDraft, asked: AskedReasoning): void {
  // Callers of other dialects receive the reasoning with the answer.
  const isShown = asked.isOn === true && !asked.isHidden && draft.isForOthers
  const summary = asked.summary ?? (isShown ? 'auto' : null)
  if (!draft.terms.isStrict && draft.isSameForm)
    return draft.set('reasoning', reasoningMember({ ...asked, summary }))
  const effort = effortSent(draft, asked)
  const member = { ...(effort !== null && { effort }), ...(summary !== null && { summary }) }
  if (Object.keys(member).length > 0) draft.set('reasoning', member)
}

/** Models without reasoning refuse a request for encrypted reasoning. */
function isEncryptedWanted({ dialect, reasoning, turns }: Prompt, terms: WriteTerms): boolean {
  if (reasoning?.isEncryptedAsked === true) return true
  if (dialect === 'responses' || terms.isOfPreset === true) return false
  return reasoning?.isOn === true || turns.some((turn) => isSignedBy(ownFormat(terms), turn))
}

function isSignedBy(format: string, { parts }: Turn): boolean {
  return parts.some((part) => part.kind === 'reasoning' && part.signature?.format === format)
}

function formatMember(format: AnswerFormat): Members {
  if (format.kind === 'json_object') return { type: format.kind }
  const { kind, name, description, schema, isStrict } = format
  const definition = { type: kind, name, ...(description !== null && { description }), schema }
  return { ...definition, ...(isStrict !== null && { strict: isStrict }) }
}

/** The format of the endpoint's own signatures, which need not be OpenAI's. */
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

/** Consecutive texts become one message. */
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

/** The items for the signature of a call; they follow the call. */
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

/** OpenAI accepts reasoning that it has not stored only with the encrypted part. */
function reasoningItems(draft: PromptDraft, part: PromptReasoning): readonly Members[] {
  const kept = takenBack(part.signature, draft.terms)
  if (kept === null) {
    draft.drop('reasoning', draft.turnsPath)
    return []
  }
  const of = part.isRedacted ? 'redacted' : 'reasoning'
  // OpenAI accepts only summaries.
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
