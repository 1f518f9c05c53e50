import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import type { ChatBody } from '../../schemas/inference/chat.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import { readFreeform } from '../freeform-tools.ts'
import { allowedChoice, choiceOfWord, readFunction } from '../functions.ts'
import { readReasoning } from '../openai-reasoning.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf } from '../others.ts'
import type { AnswerFormat, Prompt, PromptTool, ToolChoice } from '../prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { readTuning } from '../tuning.ts'
import { readChatTurns } from '../../schemas/inference/forms/chat/read-chat-turns.ts'

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
const FUNCTION = usedMembers('chat', 'tools', { type: 'function', inner: 'function' })
const FREEFORM = usedMembers('chat', 'tools', { type: 'custom' })

function readTools(tools: NonNullable<ChatBody['tools']>, others: Others): readonly PromptTool[] {
  return tools.flatMap((tool, nth) => {
    const path = ['tools', nth]
    const read = readTool(tool, path, others)
    if (read === null) others.add('tools', path)
    return read ?? []
  })
}

/** Null: it is no tool that the caller runs. */
function readTool(tool: Members, path: JsonPath, others: Others): PromptTool | null {
  if (tool['type'] === 'function') {
    others.addRest(tool, TOOL, { path })
    const place = { path: [...path, 'function'], used: FUNCTION, schema: 'parameters', outer: tool }
    return readFunction(membersOf(tool['function']), place, others)
  }
  if (tool['type'] !== 'custom') return null
  const read = readFreeform(membersOf(tool['custom']), [...path, 'custom'], others)
  if (read === null) return null
  others.addRest(tool, FREEFORM, { path })
  return { ...read, cache: cachePointOf(tool['cache_control'] ?? tool['prompt_cache_breakpoint']) }
}

function readChoice(choice: unknown, others: Others): ToolChoice | null {
  if (choice === null || typeof choice === 'string') return choiceOfWord(choice)
  const told = membersOf(choice)
  const { type, allowed_tools: allowed } = told
  const name = namedTool(told)
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
  const { type = 'text', json_schema: told } = membersOf(format)
  const path = ['response_format']
  if (type === 'text') return null
  if (type === 'json_object') return readJsonObject(membersOf(format), { path, others })
  others.addRest(membersOf(format), FORMAT, { path, prefix: 'response_format.' })
  if (type === JSON_SCHEMA && isObject(told)) {
    others.addRest(told, SCHEMA, { path: [...path, JSON_SCHEMA], prefix: 'response_format.' })
    return schemaFormat(told)
  }
  others.add('response_format', path)
  return null
}

const OBJECT: ReadonlySet<string> = new Set(['type', 'schema', 'name', 'description', 'strict'])

/** Some providers take a schema there, too. */
export function readJsonObject(
  format: Members,
  { path, others }: { readonly path: JsonPath; readonly others: Others },
): AnswerFormat {
  others.addRest(format, OBJECT, { path, prefix: `${path.join('.')}.` })
  if (isObject(format['schema'])) return schemaFormat(format)
  others.addUnread(path.join('.'), format['schema'], [...path, 'schema'])
  return { kind: 'json_object' }
}

/** The name of a format whose caller gives none: OpenAI requires one. */
const FORMAT_NAME = 'output'

export function schemaFormat(told: Members): AnswerFormat {
  return {
    kind: JSON_SCHEMA,
    name: textOf(told['name']) ?? FORMAT_NAME,
    description: textOf(told['description']),
    schema: isObject(told['schema']) ? told['schema'] : {},
    isStrict: flagOf(told['strict']),
  }
}
