import { isObject, membersOf, type Members } from '../../../values/members.ts'
import type { JsonPath } from '../../../values/json-path.ts'
import type { ChatMessage } from '../../chat.ts'
import { freeformArguments } from '../../../../dialects/freeform-tools.ts'
import { cachePointOf, textIn, textOf, type Others } from '../../../../dialects/others.ts'
import type { AssistantPart, PromptCall, PromptText, Turn } from '../../../../dialects/prompt.ts'
import { usedMembers } from '../../../../dialects/table/nested-table.ts'
import { readChatContent, type ChatPart } from '../../../../dialects/chat/request-parts.ts'
import { readDetails } from './reasoning-details.ts'

/** Members that each role's reader uses. */
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

/** The place that a message marks is the end of its last part, which is no reasoning. */
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

/** Reasoning comes first, and calls last: chat does not tell their order. */
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
const FUNCTION: ReadonlySet<string> = new Set(['name', 'arguments'])
const FREEFORM_CALL: ReadonlySet<string> = new Set(['id', 'type', 'custom', 'index'])
const FREEFORM: ReadonlySet<string> = new Set(['name', 'input'])

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
    others.addRest(called, isFreeform ? FREEFORM : FUNCTION, { path: [...path, nth, member] })
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

/** Some clients write the object itself. */
function argumentsOf(value: unknown): string {
  if (isObject(value)) return JSON.stringify(value)
  const text = textOf(value) ?? ''
  return text === '' ? '{}' : text
}
