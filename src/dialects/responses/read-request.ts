import { membersOf, type Members } from '../../schemas/values/members.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import type { ResponsesBody } from '../../schemas/inference/responses.ts'
import { readJsonObject, schemaFormat } from '../chat/read-request.ts'
import { FunctionNames } from '../../schemas/inference/forms/function-names.ts'
import { readReasoning } from '../openai-reasoning.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf } from '../others.ts'
import type { AnswerFormat, AskedReasoning, Prompt, Turn } from '../prompt.ts'
import { readTuning } from '../tuning.ts'
import { readItems } from '../../schemas/inference/forms/responses/read-items.ts'
import { readChoice, readTools, toolLists, type ToolPlace } from './tools.ts'

/** The word of `include` for what the caller has to give back. */
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

/** Of the tools that are of no namespace. */
function namesIn({ tools }: ReturnType<typeof toolLists>[number]): readonly string[] {
  return tools.flatMap(({ type, name }) => (type === 'namespace' ? [] : (textOf(name) ?? [])))
}

function readTurns({ instructions, input }: ResponsesBody, place: ToolPlace): readonly Turn[] {
  const said = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])
  const turns = readItems(said, place)
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
  const told = membersOf(format)
  const { type = 'text' } = told
  if (type === 'text') return null
  const path = ['text', 'format']
  if (type === 'json_object') return readJsonObject(told, { path, others })
  if (type === JSON_SCHEMA) {
    others.addRest(told, FORMAT, { path, prefix: 'text.format.' })
    return schemaFormat(told)
  }
  others.add('text.format', path)
  return null
}
