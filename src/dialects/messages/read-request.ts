import { membersOf, type Members } from '../../schemas/values/members.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import type { MessagesBody } from '../../schemas/inference/messages.ts'
import { schemaFormat } from '../chat/read-request.ts'
import { readFunction } from '../functions.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf } from '../others.ts'
import type { AnswerFormat, AskedReasoning, Prompt, PromptTool, ToolChoice, Turn } from '../prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { readTuning } from '../tuning.ts'
import { blocksOf } from './request-parts.ts'
import { readMessageTurns, readSystem } from '../../schemas/inference/forms/messages/read-message-turns.ts'

/** @param body of POST /messages that has passed the schema */
export function readMessages(body: Members): Prompt {
  const asked = body as unknown as MessagesBody
  const others = new Others('messages')
  others.addTop(body)
  others.addRest(membersOf(asked.metadata), METADATA, { path: ['metadata'], prefix: 'metadata.' })
  const system = readSystem(blocksOf(asked.system), ['system'], others)
  const first: readonly Turn[] = system.length === 0 ? [] : [{ role: 'system', parts: system }]
  const isSingle = flagOf(membersOf(asked.tool_choice)['disable_parallel_tool_use'])
  return {
    dialect: 'messages',
    turns: [...first, ...readMessageTurns(asked.messages, others)],
    tools: readTools(asked.tools ?? [], others),
    toolChoice: readChoice(asked.tool_choice, others),
    isParallel: isSingle === null ? null : !isSingle,
    tokensMax: numberOf(asked.max_tokens),
    stops: asked.stop_sequences ?? [],
    tuning: { ...readTuning(body, 'messages', others), user: textOf(asked.metadata?.user_id) },
    reasoning: readThinking(asked, others),
    format: readFormat(asked, others),
    isStream: asked.stream === true,
    cache: cachePointOf(body['cache_control']),
    others: others.members,
  }
}

const METADATA: ReadonlySet<string> = new Set(['user_id'])
const TOOL = usedMembers('messages', 'tools', { type: 'custom' })

function readTools(tools: NonNullable<MessagesBody['tools']>, others: Others): readonly PromptTool[] {
  return tools.flatMap((tool, nth) => {
    const path = ['tools', nth]
    if ((tool.type ?? 'custom') === 'custom')
      return [readFunction(membersOf(tool), { path, used: TOOL, schema: 'input_schema' }, others)]
    others.add('tools', path)
    return []
  })
}

const CHOICE: ReadonlySet<string> = new Set(['type', 'name', 'disable_parallel_tool_use'])

function readChoice(value: MessagesBody['tool_choice'], others: Others): ToolChoice | null {
  if ((value ?? null) === null) return null
  const choice = membersOf(value)
  others.addRest(choice, CHOICE, { path: ['tool_choice'], prefix: 'tool_choice.' })
  const name = textOf(choice['name'])
  switch (choice['type']) {
    case 'auto':
      return { kind: 'auto' }
    case 'none':
      return { kind: 'none' }
    case 'any':
      return { kind: 'required' }
    case 'tool':
      if (name !== null) return { kind: 'tool', name }
  }
  others.add('tool_choice', ['tool_choice'])
  return null
}

const THINKING: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'display'])
const OUTPUT: ReadonlySet<string> = new Set(['effort', 'format'])
/** Whether the model reasons, by the type of `thinking`. */
const IS_ON: Readonly<Record<string, boolean>> = { enabled: true, adaptive: true, disabled: false }

/** Null: the caller says nothing of it. */
function readThinking({ thinking, output_config }: MessagesBody, others: Others): AskedReasoning | null {
  const output = membersOf(output_config)
  others.addRest(output, OUTPUT, { path: ['output_config'], prefix: 'output_config.' })
  const asked = membersOf(thinking)
  others.addRest(asked, THINKING, { path: ['thinking'], prefix: 'thinking.' })
  const type = textOf(asked['type'])
  const isOn = type !== null && Object.hasOwn(IS_ON, type) ? (IS_ON[type] ?? null) : null
  if (type !== null && isOn === null) others.drop('thinking', ['thinking'])
  const effort = textOf(output['effort'])
  if (type === 'adaptive')
    others.addUnread('thinking.budget_tokens', asked['budget_tokens'], ['thinking', 'budget_tokens'])
  if (isOn === null && effort === null) return null
  return {
    effort,
    budget: type === 'enabled' ? numberOf(asked['budget_tokens']) : null,
    isOn,
    isHidden: asked['display'] === 'omitted',
    summary: null,
    isEncryptedAsked: false,
  }
}

const FORMAT: ReadonlySet<string> = new Set(['type', 'schema'])

function readFormat({ output_config, output_format }: MessagesBody, others: Others): AnswerFormat | null {
  const [format, path] = output_config?.format
    ? [output_config.format, ['output_config', 'format']]
    : [output_format, ['output_format']]
  const told = membersOf(format)
  const { type = 'text' } = told
  if (output_config?.format) others.addUnread('output_format', output_format, ['output_format'])
  if (type === 'text') return null
  if (type === JSON_SCHEMA) {
    others.addRest(told, FORMAT, { path, prefix: 'output_config.format.' })
    return schemaFormat({ schema: told['schema'] })
  }
  others.add('output_config.format', path)
  return null
}
