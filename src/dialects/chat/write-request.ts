import type { Members } from '../../schemas/values/members.ts'
import { hasCachePoint, wholeCache } from '../prompt/cache-points.ts'
import { freeformMembers, freeformInputOf } from '../prompt/freeform-tools.ts'
import { chatTokensMember } from '../../schemas/models/openai-maker.ts'
import { cacheControl } from '../prompt/others.ts'
import type {
  AnswerFormat,
  Prompt,
  PromptTool,
  ToolChoice,
  AssistantPart,
  PromptCall,
  Turn,
  UserPart,
} from '../prompt/prompt.ts'
import { PromptDraft } from '../prompt/prompt-draft.ts'
import { writeTuning, effortSent, reasoningMember, writeOpenaiNames } from '../prompt/tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../prompt/write-terms.ts'
import { CHAT_CALL_ID, fittingId, STRICT_CALL_ID, erroneous } from '../prompt/calls.ts'
import { isTextDocument, textOfMedia } from '../prompt/media.ts'
import { BETWEEN_TEXTS } from '../prompt/prompt.ts'
import { areTexts, writeChatPart, type ChatPart, writeDetails } from './request-parts.ts'

/** A prompt as the body of a call of chat completions. */
export function writeChat(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'chat', terms)
  draft.set('messages', writeChatTurns(draft))
  writeTuning(draft, prompt.tuning, 'chat')
  writeOpenaiNames(draft)
  // OpenAI accepts `metadata` only for chats that it stores.
  if (terms.isMaker && draft.has('metadata')) draft.cut('metadata')
  draft.set(chatTokensMember(terms.isMaker), prompt.tokensMax ?? terms.tokensMax)
  if (prompt.stops.length > 0) draft.set('stop', prompt.stops)
  writeTools(draft)
  writeReasoning(draft)
  if (prompt.format !== null) draft.set('response_format', formatMember(prompt.format))
  if (!terms.isStrict) draft.set('cache_control', wholeCache(prompt))
  else if (hasCachePoint(prompt)) draft.drop('cache_control')
  if (prompt.isStream) {
    draft.set('stream', true)
    draft.set('stream_options', { include_usage: true })
  }
  return draft.written()
}

/** Providers refuse `tool_choice` without tools. */
function writeTools(draft: PromptDraft): void {
  const { tools, toolChoice, isParallel } = draft.prompt
  if (tools.length === 0) return
  draft.set(
    'tools',
    tools.map((tool) => toolMember(draft, tool)),
  )
  draft.set('tool_choice', toolChoice === null ? null : choiceMember(draft, toolChoice))
  draft.set('parallel_tool_calls', isParallel)
}

function toolMember({ isSameForm, terms }: PromptDraft, tool: PromptTool): Members {
  const { name, description, schema, isStrict, cache, origin } = tool
  const cut = terms.isStrict ? {} : cacheControl(cache)
  if (isSameForm && origin?.isFreeform === true)
    return { type: 'custom', custom: freeformMembers(origin), ...cut }
  const definition = {
    name,
    ...(description !== null && { description }),
    ...(schema !== null && { parameters: schema }),
    ...(isStrict !== null && { strict: isStrict }),
  }
  return { type: 'function', function: definition, ...cut }
}

function choiceMember({ isSameForm, prompt }: PromptDraft, choice: ToolChoice): unknown {
  const named = (name: string): Members => {
    const isFreeform =
      isSameForm && prompt.tools.some((tool) => tool.name === name && tool.origin?.isFreeform === true)
    return isFreeform ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
  }
  if (choice.kind === 'tool') return named(choice.name)
  if (choice.kind !== 'allowed') return choice.kind
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(named) } }
}

function writeReasoning(draft: PromptDraft): void {
  const { reasoning } = draft.prompt
  if (reasoning === null) return
  // Providers refuse requests with both members.
  if (!draft.terms.isStrict && (draft.isSameForm || reasoning.effort === null))
    return draft.set('reasoning', reasoningMember(reasoning))
  const effort = effortSent(draft, reasoning)
  const taken = draft.terms.isStrict ? effort : commonEffort(effort, draft.terms)
  if (taken !== effort) draft.drop('reasoning.effort')
  draft.set('reasoning_effort', taken)
  if (reasoning.summary !== null) draft.drop('reasoning.summary')
}

/** Efforts that not every server has, with the nearest effort that every server has. */
const COMMON_EFFORTS: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function commonEffort(effort: string | null, { efforts = [] }: Pick<WriteTerms, 'efforts'>): string | null {
  if (effort === null || efforts.includes(effort)) return effort
  return Object.hasOwn(COMMON_EFFORTS, effort) ? (COMMON_EFFORTS[effort] ?? null) : effort
}

function formatMember(format: AnswerFormat): Members {
  if (format.kind === 'json_object') return { type: format.kind }
  const { kind, name, description, schema, isStrict } = format
  const jsonSchema = { name, ...(description !== null && { description }), schema }
  return { type: kind, json_schema: { ...jsonSchema, ...(isStrict !== null && { strict: isStrict }) } }
}

type ToolTurn = Extract<Turn, { readonly role: 'tool' }>

/** The message for an empty conversation, which chat providers refuse. */
const OPENING: Members = { role: 'user', content: '.' }

/** Messages, in the order of the turns. */
export function writeChatTurns(draft: PromptDraft): readonly Members[] {
  const messages: Members[] = []
  let media: Members[] = []
  const { turns } = draft.prompt
  for (const turn of draft.isSameForm ? turns : resultsFirst(turns)) {
    if (turn.role !== 'tool' && media.length > 0) {
      messages.push({ role: 'user', content: media })
      media = []
    }
    if (isLost(draft, turn)) draft.drop('reasoning', draft.turnsPath)
    else if (turn.role === 'tool') messages.push(writeResult(draft, turn, media))
    else if (turn.role === 'assistant') messages.push(writeAssistant(draft, turn.parts))
    else messages.push({ role: turn.role, content: writeContent(draft, turn.parts) })
  }
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return messages.length === 0 ? [OPENING] : messages
}

/** Moves results directly after their calls: chat providers refuse anything between the two. */
function resultsFirst(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = []
  let behind: Turn[] = []
  const flush = (): void => {
    for (const turn of behind) ordered.push(turn)
    behind = []
  }
  for (const turn of turns) {
    if (turn.role === 'assistant') flush()
    if (turn.role === 'assistant' || turn.role === 'tool') ordered.push(turn)
    else behind.push(turn)
  }
  flush()
  return ordered
}

/** Whether a turn is left out: it has only reasoning, and strict providers refuse a message without a text. */
function isLost({ terms }: PromptDraft, { role, parts }: Turn): boolean {
  return (
    terms.isStrict &&
    role === 'assistant' &&
    parts.length > 0 &&
    parts.every(({ kind }) => kind === 'reasoning')
  )
}

function writeContent(draft: PromptDraft, parts: readonly ChatPart[]): unknown {
  const isCut = !draft.terms.isStrict
  const isMarked = isCut && parts.some(({ cache }) => cache !== null)
  if (parts.length === 0) return ''
  const texts = draft.isSameForm ? parts : parts.map(asText)
  // Some chat providers do not accept a list in every role.
  if (areTexts(texts) && !isMarked && (texts.length === 1 || !draft.isSameForm))
    return texts.map(({ text }) => text).join(BETWEEN_TEXTS)
  return texts.map((part) => writeChatPart(part, isCut))
}

/** A text document is sent as a text part: chat providers accept only PDF documents. */
function asText(part: ChatPart): ChatPart {
  if (part.kind !== 'file' || !isTextDocument(part.media)) return part
  return { kind: 'text', text: textOfMedia(part.media) ?? '', cache: part.cache }
}

function idOf(draft: PromptDraft, id: string): string {
  if (draft.isSameForm) return id
  const { isStrict, isMaker } = draft.terms
  return fittingId(id, isStrict && !isMaker ? STRICT_CALL_ID : CHAT_CALL_ID)
}

/**
 * The result of a tool. Its pictures and files go into a user turn after the last result: providers accept
 * only text in results.
 * @param media receives the pictures and files
 */
function writeResult(draft: PromptDraft, turn: ToolTurn, media: Members[]): Members {
  const id = idOf(draft, turn.callId)
  const isCut = !draft.terms.isStrict
  const parts: readonly UserPart[] = turn.isError ? erroneous(turn.parts) : turn.parts
  const own = draft.isSameForm ? parts : parts.map(asText).filter(({ kind }) => kind === 'text')
  const moved = draft.isSameForm ? [] : parts.filter((part) => asText(part).kind !== 'text')
  if (moved.length > 0) {
    media.push({ type: 'text', text: `Files of the tool result ${id}:` })
    for (const part of moved) media.push(writeChatPart(part, isCut))
  }
  const content = writeContent(draft, own)
  return { role: 'tool', tool_call_id: id, content, ...(isCut ? cacheControl(turn.cache) : {}) }
}

function writeAssistant(draft: PromptDraft, parts: readonly AssistantPart[]): Members {
  const textParts = parts.filter((part) => part.kind === 'text')
  const calls = parts.filter((part) => part.kind === 'call')
  const refusal = parts.flatMap((part) => (part.kind === 'refusal' ? part.text : []))
  const content = textParts.length === 0 && calls.length > 0 ? null : writeContent(draft, textParts)
  const last = parts.at(-1)
  // A message keeps the cache marks of its last part and of its texts.
  const isMarkLost = parts.some((part) => part !== last && part.kind !== 'text' && part.cache !== null)
  if (isMarkLost && !draft.terms.isStrict) draft.drop('cache_control', draft.turnsPath)
  return {
    role: 'assistant',
    content,
    ...(refusal.length > 0 && { refusal: refusal.join(BETWEEN_TEXTS) }),
    ...writeThoughts(draft, parts),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(draft, call)) }),
    ...(last !== undefined && last.kind !== 'text' && !draft.terms.isStrict ? cacheControl(last.cache) : {}),
  }
}

/** Reasoning members of a message; none for strict providers. */
function writeThoughts(draft: PromptDraft, parts: readonly AssistantPart[]): Members {
  if (draft.terms.isStrict) {
    const isLost = parts.some(
      (part) => part.kind === 'reasoning' || (part.kind === 'call' && part.signature !== null),
    )
    if (isLost) draft.drop('reasoning', draft.turnsPath)
    return {}
  }
  const field = draft.terms.reasoningField ?? 'both'
  const texts = parts.flatMap((part) => (part.kind === 'reasoning' && part.text !== '' ? part.text : []))
  const details =
    field === 'reasoning' || field === 'both' ? writeDetails(parts, (id) => idOf(draft, id)) : []
  if (field === 'none') {
    if (texts.length > 0) draft.drop('reasoning', draft.turnsPath)
    return {}
  }
  const text = texts.join(BETWEEN_TEXTS)
  return {
    ...(text !== '' && field !== 'reasoning_content' && { reasoning: text }),
    // Providers that reason between tool calls refuse the next step without it.
    ...(text !== '' && field !== 'reasoning' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function writeCall(draft: PromptDraft, call: PromptCall): Members {
  const id = idOf(draft, call.id)
  if (draft.isSameForm && call.origin?.isFreeform === true)
    return { id, type: 'custom', custom: { name: call.name, input: freeformInputOf(call) } }
  return {
    id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }
}
