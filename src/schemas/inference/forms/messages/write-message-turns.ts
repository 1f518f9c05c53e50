import type { Members } from '../../../values/members.ts'
import { argumentsObject } from '../call-arguments.ts'
import { fittingId, MESSAGES_CALL_ID } from '../../../../dialects/calls.ts'
import { returnedSignature, SIGNATURE_FORMATS, takenBack } from '../../../../dialects/signatures.ts'
import { speaking } from '../../../../dialects/cache-points.ts'
import { laterSystemText } from '../later-system.ts'
import { cacheControl } from '../../../../dialects/others.ts'
import type { AssistantPart, PromptReasoning, PromptText, Turn } from '../../../../dialects/prompt.ts'
import type { PromptDraft } from '../../../../dialects/prompt-draft.ts'
import { writeGiven, type GivenPart } from '../../../../dialects/messages/request-parts.ts'

const OWN = SIGNATURE_FORMATS.messages
/** Anthropic refuses a conversation that its model begins, and one without a turn. */
const OPENING: WrittenMessage = { role: 'user', content: [{ type: 'text', text: '.' }] }

export interface WrittenMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Members[]
}

/** Text of the system before all turns, and the turns, of which each role's neighbours are one. */
export interface WrittenTurns {
  readonly system: readonly Members[]
  readonly messages: readonly WrittenMessage[]
}

export function writeMessageTurns(draft: PromptDraft): WrittenTurns {
  const { turns } = draft.prompt
  const first = turns.findIndex(({ role }) => role !== 'system')
  const head = first === -1 ? turns : turns.slice(0, first)
  const system = head.flatMap(({ parts }) => saying(draft, parts.filter(isText)).map(writeGiven))
  const runs: Run[] = []
  for (const turn of turns.slice(head.length)) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(draft, turn)
    if (blocks.length === 0) continue
    let last = runs.at(-1)
    if (last?.role !== role) {
      last = { role, results: [], others: [] }
      runs.push(last)
    }
    const into = turn.role === 'tool' ? last.results : last.others
    for (const block of blocks) into.push(block)
  }
  return opened(
    system,
    ended(runs.map(({ role, results, others }) => ({ role, content: [...results, ...others] }))),
  )
}

/** Anthropic goes on from a text at the end of its model's turn, and refuses white space at the end of that. */
function ended(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || typeof block?.['text'] !== 'string') return messages
  const text = { ...block, text: block['text'].trimEnd() }
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), text] }]
}

/** A message in the making: results of tools come first in it. */
interface Run {
  readonly role: WrittenMessage['role']
  readonly results: Members[]
  readonly others: Members[]
}

function opened(system: readonly Members[], messages: readonly WrittenMessage[]): WrittenTurns {
  const [first] = messages
  // Anthropic answers no prompt that has a text of the system alone.
  if (first === undefined)
    return { system: [], messages: [system.length === 0 ? OPENING : { role: 'user', content: system }] }
  return { system, messages: first.role === 'assistant' ? [OPENING, ...messages] : messages }
}

function isText(part: { readonly kind: string }): part is PromptText {
  return part.kind === 'text'
}

function blocksOf(draft: PromptDraft, turn: Turn): readonly Members[] {
  switch (turn.role) {
    case 'system':
      return saying(draft, turn.parts).map((part) =>
        writeGiven({ ...part, text: laterSystemText(part.text) }),
      )
    case 'user':
      return saying(draft, turn.parts.filter(isGiven)).map((part) => givenBlock(draft, part))
    case 'tool': {
      const content = saying(draft, turn.parts).map((part) => givenBlock(draft, part))
      return [
        {
          ...{ type: 'tool_result', tool_use_id: idOf(draft, turn.callId) },
          ...(content.length > 0 && { content }),
          ...(turn.isError && { is_error: true }),
          ...cacheControl(turn.cache),
        },
      ]
    }
    case 'assistant':
      return saying(draft, turn.parts).flatMap((part) => modelBlocks(draft, part))
  }
}

/** Anthropic refuses texts of white space alone, which other forms take. */
function saying<P extends Turn['parts'][number]>(draft: PromptDraft, parts: readonly P[]): readonly P[] {
  if (draft.isSameForm) return parts
  const isSilent = (part: P): boolean =>
    (part.kind === 'text' || part.kind === 'refusal') && part.text.trim() === ''
  return speaking(parts, isSilent, () => draft.drop('cache_control', draft.turnsPath))
}

function givenBlock(draft: PromptDraft, part: GivenPart): Members {
  if (part.kind === 'image' && part.detail !== null) draft.drop('detail', part.path)
  return writeGiven(part)
}

/** Sounds and films are refused before. */
function isGiven(part: { readonly kind: string }): part is GivenPart {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'file'
}

function idOf(draft: PromptDraft, id: string): string {
  return draft.isSameForm ? id : fittingId(id, MESSAGES_CALL_ID)
}

function modelBlocks(draft: PromptDraft, part: AssistantPart): readonly Members[] {
  switch (part.kind) {
    case 'text':
      return [writeGiven(part)]
    case 'refusal':
      return part.text === '' ? [] : [writeGiven({ ...part, kind: 'text' })]
    case 'reasoning':
      return reasoningBlocks(draft, part)
    case 'call': {
      const signature = takenBack(part.signature, draft.terms)
      if (part.signature !== null && signature === null) draft.drop('reasoning', draft.turnsPath)
      const call = { type: 'tool_use', id: idOf(draft, part.id), name: part.name }
      const block = { ...call, input: argumentsObject(part.arguments), ...cacheControl(part.cache) }
      if (signature === null) return [block]
      const carrier = returnedSignature({ signature, of: 'call' }, { format: OWN })
      return [block, { type: 'thinking', thinking: '', signature: carrier }]
    }
  }
}

/** Anthropic refuses reasoning that it has not signed. */
function reasoningBlocks(
  draft: PromptDraft,
  { text, isRedacted, signature }: PromptReasoning,
): readonly Members[] {
  const kept = takenBack(signature, draft.terms)
  if (kept === null) {
    draft.drop('reasoning', draft.turnsPath)
    return []
  }
  const of = isRedacted ? 'redacted' : 'reasoning'
  const carrier = returnedSignature({ signature: kept, of }, { format: OWN, of })
  if (isRedacted) return [{ type: 'redacted_thinking', data: carrier }]
  return [{ type: 'thinking', thinking: text, signature: carrier }]
}

/** The last turn of the model. */
export function lastStep(messages: readonly WrittenMessage[]): readonly Members[] {
  return messages.findLast(({ role }) => role === 'assistant')?.content ?? []
}

/** Whether a turn of the model calls tools and does not begin with reasoning. */
export function isStepUnsigned(step: readonly Members[]): boolean {
  const isReasoned = /thinking$/.test(String(step[0]?.['type']))
  return !isReasoned && step.some(({ type }) => type === 'tool_use')
}
