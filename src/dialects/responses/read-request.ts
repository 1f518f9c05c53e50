import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import type { ResponsesBody } from '../../schemas/inference/responses.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf } from '../prompt/others.ts'
import type {
  AnswerFormat,
  AskedReasoning,
  Prompt,
  Turn,
  AssistantPart,
  PromptText,
  UserPart,
} from '../prompt/prompt.ts'
import { readTuning, readReasoning } from '../prompt/tuning.ts'
import { readChoice, readTools, toolLists, type ToolPlace, namespaceOf } from './tools.ts'
import { FunctionNames } from '../prompt/functions.ts'
import { REASONING_ID } from './digest.ts'
import {
  CARRIER_MARK,
  SIGNATURE_FORMATS,
  signatureOf,
  signedReasoning,
  withCallSignatures,
  type ReadPart,
} from '../prompt/signatures.ts'
import { freeformArguments } from '../prompt/freeform-tools.ts'
import { BETWEEN_TEXTS } from '../prompt/prompt.ts'
import { TOOL_SEARCH, usedMembers, WEB_SEARCH } from '../table/nested-table.ts'
import { readItemContent, type ItemPart } from './request-parts.ts'
import { readJsonObject, schemaFormat } from '../prompt/answer-format.ts'

/** The value in `include` that requests encrypted reasoning. */
export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/** @param body of POST /responses that has passed the schema */
export function readResponses(body: Members): Prompt {
  const asked = body as unknown as ResponsesBody
  const others = new Others('responses')
  others.addTop(body)
  others.addRest(membersOf(asked.text), TEXT, { path: ['text'], prefix: 'text.' })
  const lists = toolLists(asked)
  const place = { names: new FunctionNames(lists.flatMap(namesIn)), others }
  const tools = readTools(lists, place)
  return {
    dialect: 'responses',
    turns: readTurns(asked, place),
    tools,
    toolChoice: readChoice(asked.tool_choice ?? null, tools, others),
    isParallel: flagOf(asked.parallel_tool_calls),
    tokensMax: numberOf(asked.max_output_tokens),
    stops: [],
    tuning: {
      ...readTuning(body, 'responses', others),
      verbosity: textOf(membersOf(asked.text)['verbosity']),
    },
    reasoning: readAsked(asked, others),
    format: readFormat(asked.text?.format, others),
    isStream: asked.stream === true,
    cache: cachePointOf(body['cache_control']),
    others: others.members,
  }
}

const TEXT: ReadonlySet<string> = new Set(['format', 'verbosity'])

/** Names of the tools without a namespace. */
function namesIn({ tools }: ReturnType<typeof toolLists>[number]): readonly string[] {
  return tools.flatMap(({ type, name }) => (type === 'namespace' ? [] : (textOf(name) ?? [])))
}

function readTurns({ instructions, input }: ResponsesBody, place: ToolPlace): readonly Turn[] {
  const inputItems = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])
  const turns = readItems(inputItems, place)
  if ((instructions ?? '') === '') return turns
  return [{ role: 'system', parts: [{ kind: 'text', text: instructions ?? '', cache: null }] }, ...turns]
}

function readAsked({ reasoning, include }: ResponsesBody, others: Others): AskedReasoning | null {
  for (const [nth, one] of (include ?? []).entries())
    if (one !== ENCRYPTED_REASONING)
      others.add(one === LOGPROBS ? 'include.logprobs' : 'include', ['include', nth])
  const isEncryptedAsked = include?.includes(ENCRYPTED_REASONING) === true
  return readReasoning(reasoning, { isEncryptedAsked }, others)
}

const FORMAT: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict'])

function readFormat(format: unknown, others: Others): AnswerFormat | null {
  const formatMembers = membersOf(format)
  const { type = 'text' } = formatMembers
  if (type === 'text') return null
  const path = ['text', 'format']
  if (type === 'json_object') return readJsonObject(formatMembers, { path, others })
  if (type === JSON_SCHEMA) {
    others.addRest(formatMembers, FORMAT, { path, prefix: 'text.format.' })
    return schemaFormat(formatMembers)
  }
  others.add('text.format', path)
  return null
}

type ReadTurn =
  | Exclude<Turn, { readonly role: 'assistant' }>
  | { readonly role: 'assistant'; readonly parts: readonly ReadPart[] }

/** Consecutive items of the model become one turn. */
export function readItems(items: readonly unknown[], tools: ToolPlace): readonly Turn[] {
  const turns: ReadTurn[] = []
  let open: ReadPart[] | null = null
  for (const [nth, item] of items.entries())
    for (const turn of readItem(membersOf(item), { path: ['input', nth], ...tools })) {
      if (turn.role !== 'assistant') {
        open = null
        turns.push(turn)
        continue
      }
      if (open === null) {
        open = []
        turns.push({ role: 'assistant', parts: open })
      }
      for (const part of turn.parts) open.push(part)
    }
  return turns.map((turn) =>
    turn.role === 'assistant' ? { role: 'assistant', parts: withCallSignatures(turn.parts) } : turn,
  )
}

interface Place {
  readonly path: JsonPath
  readonly others: Others
}

interface ItemPlace extends Place, ToolPlace {}

const MESSAGE = usedMembers('responses', 'turns', { type: 'message' })

const CALL = usedMembers('responses', 'turns', { type: 'function_call' })

const FREEFORM_CALL = usedMembers('responses', 'turns', { type: 'custom_tool_call' })

const OUTPUT = usedMembers('responses', 'turns', { type: 'function_call_output' })

/** The members of items that bring tools; the tools are read with those of the request. */
const BRINGING = usedMembers('responses', 'turns', { type: 'additional_tools' })

/** Empty if the intermediate form has no such item, or the item is empty. */
function readItem(item: Members, { path, others, names }: ItemPlace): readonly ReadTurn[] {
  const callId = textOf(item['call_id']) ?? ''
  switch (item['type'] ?? 'message') {
    case 'message':
      others.addRest(item, MESSAGE, { path })
      return readMessage(item, { path, others })
    case 'function_call': {
      others.addRest(item, CALL, { path })
      const written = textOf(item['arguments']) ?? ''
      return [callOf(item, names, written === '' ? '{}' : written)]
    }
    case 'custom_tool_call':
      if (textOf(item['name']) === null) break
      others.addRest(item, FREEFORM_CALL, { path })
      if (textOf(item['input']) === null) others.addUnread('input', item['input'], [...path, 'input'])
      return [callOf(item, names, freeformArguments(item['input']))]
    case 'custom_tool_call_output':
    case 'function_call_output': {
      others.addRest(item, OUTPUT, { path })
      const content = readItemContent(item['output'], [...path, 'output'], others)
      const parts = keptOf(content, isOfTool, { path: [...path, 'output'], others })
      const isFreeform = item['type'] === 'custom_tool_call_output' && { isFreeform: true as const }
      return [{ role: 'tool', callId, parts, isError: false, cache: null, ...isFreeform }]
    }
    case 'reasoning': {
      const parts = readReasoningItem(item, { path, others })
      return parts.length === 0 ? [] : [{ role: 'assistant', parts }]
    }
    case 'item_reference':
      addReference(item, { path, others })
      return []
    case 'additional_tools':
      others.addRest(item, BRINGING, { path })
      return []
    case 'tool_search_call':
    case 'tool_search_output':
      others.drop(TOOL_SEARCH, path)
      return []
    case 'web_search_call':
      others.drop(WEB_SEARCH, path)
      return []
  }
  others.add('input', path)
  return []
}

function callOf(item: Members, names: FunctionNames, json: string): ReadTurn {
  const [name, namespace] = [textOf(item['name']) ?? '', namespaceOf(item['namespace'])]
  const isFreeform = item['type'] === 'custom_tool_call'
  const hasOrigin = isFreeform || namespace !== null
  const call = {
    kind: 'call',
    id: textOf(item['call_id']) ?? '',
    name: names.of(namespace, name),
    ...(hasOrigin && { origin: { name, namespace, isFreeform } }),
    arguments: json,
    signature: null,
    cache: null,
  } as const
  return { role: 'assistant', parts: [call] }
}

/** Drops reasoning that is sent by its id: nothing is stored. */
function addReference({ id }: Members, { path, others }: Place): void {
  if (textOf(id)?.startsWith(REASONING_ID) === true) others.drop('item_reference', path)
  else others.add('input', path)
}

function readMessage(item: Members, { path, others }: Place): readonly Turn[] {
  const place = { path: [...path, 'content'], others }
  const content = readItemContent(item['content'], place.path, others)
  switch (item['role']) {
    case 'user':
      return [{ role: 'user', parts: keptOf(content, isOfUser, place) }]
    case 'assistant': {
      const parts = keptOf(content, isOfModel, place)
      return parts.length === 0 ? [] : [{ role: 'assistant', parts }]
    }
    default:
      return [{ role: 'system', parts: keptOf(content, isText, place) }]
  }
}

function keptOf<P extends ItemPart>(
  content: readonly ItemPart[],
  isKept: (part: ItemPart) => part is P,
  { path, others }: Place,
): readonly P[] {
  const parts = content.filter(isKept)
  if (parts.length < content.length) others.add('input.content', path)
  return parts
}

function isText(part: ItemPart): part is PromptText {
  return part.kind === 'text'
}

function isOfUser(part: ItemPart): part is UserPart {
  return part.kind !== 'refusal'
}

function isOfTool(part: ItemPart): part is Exclude<UserPart, { readonly kind: 'audio' | 'video' }> {
  return isOfUser(part) && part.kind !== 'audio' && part.kind !== 'video'
}

function isOfModel(part: ItemPart): part is Extract<AssistantPart, { readonly kind: 'text' | 'refusal' }> {
  return part.kind === 'text' || part.kind === 'refusal'
}

const REASONING = usedMembers('responses', 'turns', { type: 'reasoning' })

/** Empty if the item has no content. Without a text, the summary is used as the text. */
function readReasoningItem(item: Members, { path, others }: Place): readonly ReadPart[] {
  others.addRest(item, REASONING, { path })
  const place = { path, others }
  const [content, summary] = [textsIn(item, 'content', place), textsIn(item, 'summary', place)]
  const carried = textOf(item['encrypted_content']) ?? textOf(item['signature']) ?? ''
  const format = textOf(item['format']) ?? SIGNATURE_FORMATS.responses
  const signature = signatureOf(carried, { format })
  // The id of an item with a carrier was made by Sluice; it is not the id of the reasoning in the carrier.
  const isOurs = carried.startsWith(CARRIER_MARK) && signature?.signature.data !== carried
  const carriedReasoning = {
    text: content === '' ? summary : content,
    isSummary: content === '' && summary !== '',
    id: isOurs ? null : textOf(item['id']),
  }
  return signedReasoning(carriedReasoning, signature)
}

/** Texts of a member; a part of another type is reported as dropped reasoning. */
function textsIn(item: Members, name: string, { path, others }: Place): string {
  const list = item[name]
  if (!Array.isArray(list)) {
    others.addUnread('reasoning', list, [...path, name])
    return ''
  }
  const texts = (list as readonly unknown[]).flatMap((one, nth) => {
    const text = textOf(membersOf(one)['text'])
    if (text === null) others.drop('reasoning', [...path, name, nth])
    return text ?? []
  })
  return texts.join(BETWEEN_TEXTS)
}
