import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import type { ChatBody, ChatMessage } from '../../schemas/inference/chat.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import { readFreeform, freeformArguments } from '../prompt/freeform-tools.ts'
import { allowedChoice, choiceOfWord, readFunction } from '../prompt/functions.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf, textIn } from '../prompt/others.ts'
import type {
  AnswerFormat,
  Prompt,
  PromptTool,
  ToolChoice,
  AssistantPart,
  PromptCall,
  PromptText,
  Turn,
} from '../prompt/prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { readTuning, readReasoning } from '../prompt/tuning.ts'
import { readChatContent, type ChatPart, readDetails } from './request-parts.ts'
import { readJsonObject, schemaFormat } from '../prompt/answer-format.ts'

/** @param body of POST /chat/completions that has passed the schema */
export function readChat(body: Members): Prompt {
  const chat = body as unknown as ChatBody
  const others = new Others('chat')
  others.addTop(body)
  others.addRest(membersOf(chat.stream_options), STREAM, {
    path: ['stream_options'],
    prefix: 'stream_options.',
  })
  const effort = textOf(chat.reasoning_effort)
  const isOther = (chat.reasoning?.effort ?? effort) !== effort
  if (isOther) others.addUnread('reasoning_effort', effort, ['reasoning_effort'])
  const elsewhere = {
    effort,
    isHidden: body['include_reasoning'] === false,
  }
  return {
    dialect: 'chat',
    turns: readChatTurns(chat.messages, others),
    tools: readTools(chat.tools ?? [], others),
    toolChoice: readChoice(chat.tool_choice ?? null, others),
    isParallel: flagOf(chat.parallel_tool_calls),
    tokensMax: numberOf(chat.max_completion_tokens) ?? numberOf(chat.max_tokens),
    stops: typeof chat.stop === 'string' ? [chat.stop] : (chat.stop ?? []),
    tuning: readTuning(body, 'chat', others),
    reasoning: readReasoning(chat.reasoning, elsewhere, others),
    format: readFormat(chat.response_format, others),
    isStream: chat.stream === true,
    cache: cachePointOf(body['cache_control']),
    others: others.members,
  }
}

const STREAM: ReadonlySet<string> = new Set(['include_usage'])
const TOOL = usedMembers('chat', 'tools', { type: 'function' })
const FUNCTION_TOOL = usedMembers('chat', 'tools', { type: 'function', inner: 'function' })
const FREEFORM_TOOL = usedMembers('chat', 'tools', { type: 'custom' })

function readTools(tools: NonNullable<ChatBody['tools']>, others: Others): readonly PromptTool[] {
  return tools.flatMap((tool, nth) => {
    const path = ['tools', nth]
    const read = readTool(tool, path, others)
    if (read === null) others.add('tools', path)
    return read ?? []
  })
}

/** Null: not a tool that the caller runs. */
function readTool(tool: Members, path: JsonPath, others: Others): PromptTool | null {
  if (tool['type'] === 'function') {
    others.addRest(tool, TOOL, { path })
    const place = { path: [...path, 'function'], used: FUNCTION_TOOL, schema: 'parameters', outer: tool }
    return readFunction(membersOf(tool['function']), place, others)
  }
  if (tool['type'] !== 'custom') return null
  const read = readFreeform(membersOf(tool['custom']), [...path, 'custom'], others)
  if (read === null) return null
  others.addRest(tool, FREEFORM_TOOL, { path })
  return { ...read, cache: cachePointOf(tool['cache_control'] ?? tool['prompt_cache_breakpoint']) }
}

function readChoice(choice: unknown, others: Others): ToolChoice | null {
  if (choice === null || typeof choice === 'string') return choiceOfWord(choice)
  const choiceMembers = membersOf(choice)
  const { type, allowed_tools: allowed } = choiceMembers
  const name = namedTool(choiceMembers)
  if (name !== null) return { kind: 'tool', name }
  const some = type === 'allowed_tools' ? allowedChoice(membersOf(allowed), namedTool) : null
  if (some === null) others.add('tool_choice', ['tool_choice'])
  return some
}

function namedTool({ type, function: named, custom }: Members): string | null {
  if (type !== 'function' && type !== 'custom') return null
  return textOf(membersOf(type === 'custom' ? custom : named)['name'])
}

const FORMAT: ReadonlySet<string> = new Set(['type', 'json_schema'])
const SCHEMA: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict'])

function readFormat(format: ChatBody['response_format'], others: Others): AnswerFormat | null {
  const { type = 'text', json_schema: jsonSchema } = membersOf(format)
  const path = ['response_format']
  if (type === 'text') return null
  if (type === 'json_object') return readJsonObject(membersOf(format), { path, others })
  others.addRest(membersOf(format), FORMAT, { path, prefix: 'response_format.' })
  if (type === JSON_SCHEMA && isObject(jsonSchema)) {
    others.addRest(jsonSchema, SCHEMA, { path: [...path, JSON_SCHEMA], prefix: 'response_format.' })
    return schemaFormat(jsonSchema)
  }
  others.add('response_format', path)
  return null
}

const USED = {
  system: usedMembers('chat', 'turns', { type: 'system' }),
  user: usedMembers('chat', 'turns', { type: 'user' }),
  assistant: usedMembers('chat', 'turns', { type: 'assistant' }),
  tool: usedMembers('chat', 'turns', { type: 'tool' }),
}

export function readChatTurns(messages: readonly ChatMessage[], others: Others): readonly Turn[] {
  return messages.map((message, nth) => readTurn(message, ['messages', nth], others))
}

function readTurn(message: ChatMessage, path: JsonPath, others: Others): Turn {
  const role = message.role === 'developer' ? 'system' : message.role
  others.addRest(message, USED[role], { path })
  const content = readChatContent(message.content, [...path, 'content'], others)
  const kept = <P extends ChatPart>(isOne: (part: ChatPart) => part is P): readonly P[] => {
    const parts = content.filter(isOne)
    if (parts.length < content.length) others.add('messages.content', [...path, 'content'])
    return parts
  }
  const place = { path, others }
  switch (role) {
    case 'system':
      return { role, parts: ended(kept(isText), message, place) }
    case 'user':
      return { role, parts: ended(kept(isOfUser), message, place) }
    case 'assistant':
      return { role, parts: ended(assistantParts(message, kept(isOfModel), place), message, place) }
    case 'tool':
      return {
        role,
        callId: textOf(Reflect.get(message, 'tool_call_id')) ?? '',
        parts: kept(isOfTool),
        isError: false,
        cache: cachePointOf(membersOf(message)['cache_control']),
      }
  }
}

/** A cache mark on a message applies to the end of its last part that is not reasoning. */
function ended<P extends Turn['parts'][number]>(
  parts: readonly P[],
  message: Members,
  { path, others }: Place,
): readonly P[] {
  const cache = cachePointOf(message['cache_control'])
  if (cache === null) return parts
  const last = parts.at(-1)
  if (last !== undefined && last.kind !== 'reasoning') return [...parts.slice(0, -1), { ...last, cache }]
  others.add('cache_control', [...path, 'cache_control'])
  return parts
}

function isText(part: ChatPart): part is PromptText {
  return part.kind === 'text'
}

function isOfUser(part: ChatPart): part is Exclude<ChatPart, { readonly kind: 'refusal' }> {
  return part.kind !== 'refusal'
}

function isOfModel(part: ChatPart): part is Extract<ChatPart, { readonly kind: 'text' | 'refusal' }> {
  return part.kind === 'text' || part.kind === 'refusal'
}

function isOfTool(part: ChatPart): part is Extract<ChatPart, { readonly kind: 'text' | 'image' | 'file' }> {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'file'
}

interface Place {
  readonly path: JsonPath
  readonly others: Others
}

/** Reasoning comes first and calls last: chat does not define their order. */
function assistantParts(
  message: Members,
  content: readonly AssistantPart[],
  place: Place,
): readonly AssistantPart[] {
  const { path, others } = place
  for (const name of ['audio', 'function_call'])
    if ((message[name] ?? null) !== null) others.add(`messages.${name}`, [...path, name])
  const refusal = textIn(message, 'refusal', place) ?? ''
  const calls = readCalls(message['tool_calls'], [...path, 'tool_calls'], others)
  const { reasoning_details: details } = message
  if (!Array.isArray(details)) others.addUnread('reasoning_details', details, [...path, 'reasoning_details'])
  const { parts, ofCalls, hasOthers } = readDetails(
    Array.isArray(details) ? (details as readonly unknown[]) : [],
    textIn(message, 'reasoning', place) ?? textIn(message, 'reasoning_content', place) ?? '',
    new Set(calls.map(({ id }) => id)),
  )
  if (hasOthers) others.add('reasoning_details', [...path, 'reasoning_details'])
  return [
    ...parts,
    ...content,
    ...(refusal === '' ? [] : [{ kind: 'refusal', text: refusal, cache: null } as const]),
    ...calls.map((call) => ({ ...call, signature: ofCalls.get(call.id) ?? null })),
  ]
}

const CALL: ReadonlySet<string> = new Set(['id', 'type', 'function', 'index'])

const CALLED_FUNCTION: ReadonlySet<string> = new Set(['name', 'arguments'])

const FREEFORM_CALL: ReadonlySet<string> = new Set(['id', 'type', 'custom', 'index'])

const CALLED_FREEFORM: ReadonlySet<string> = new Set(['name', 'input'])

function readCalls(list: unknown, path: JsonPath, others: Others): readonly PromptCall[] {
  if (!Array.isArray(list)) {
    others.addUnread('messages.tool_calls', list, path)
    return []
  }
  return (list as readonly unknown[]).flatMap((one, nth) => {
    const call = membersOf(one)
    const { id, type = 'function' } = call
    const isFreeform = type === 'custom'
    const member = isFreeform ? 'custom' : 'function'
    const called = membersOf(call[member])
    const name = textOf(called['name'])
    if (!(isFreeform || type === 'function' || type === null) || name === null) {
      others.add('messages.tool_calls', [...path, nth])
      return []
    }
    others.addRest(call, isFreeform ? FREEFORM_CALL : CALL, { path: [...path, nth] })
    others.addRest(called, isFreeform ? CALLED_FREEFORM : CALLED_FUNCTION, { path: [...path, nth, member] })
    const given = isFreeform ? 'input' : 'arguments'
    const sent = called[given]
    if (typeof sent !== 'string' && (isFreeform || !isObject(sent)))
      others.addUnread('messages.tool_calls', sent, [...path, nth, member, given])
    return {
      kind: 'call',
      id: textOf(id) ?? '',
      name,
      ...(isFreeform && { origin: { name, namespace: null, isFreeform } }),
      arguments: isFreeform ? freeformArguments(called['input']) : argumentsOf(called['arguments']),
      signature: null,
      cache: null,
    } as const
  })
}

/** Some clients write an object instead of its JSON text. */
function argumentsOf(value: unknown): string {
  if (isObject(value)) return JSON.stringify(value)
  const text = textOf(value) ?? ''
  return text === '' ? '{}' : text
}
