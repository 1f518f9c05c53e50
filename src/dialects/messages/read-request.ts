import { membersOf, type Members, isObject } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import type { MessagesBody, Message } from '../../schemas/inference/messages.ts'
import { readFunction } from '../prompt/functions.ts'
import { cachePointOf, flagOf, numberOf, Others, textOf } from '../prompt/others.ts'
import type {
  AnswerFormat,
  AskedReasoning,
  Prompt,
  PromptTool,
  ToolChoice,
  Turn,
  AssistantPart,
  UserPart,
} from '../prompt/prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { readTuning } from '../prompt/tuning.ts'
import { blocksOf, argumentsText, isContent, readGiven, readText, type GivenPart } from './request-parts.ts'
import { withoutBilling } from '../../schemas/inference/conversation.ts'
import {
  SIGNATURE_FORMATS,
  signatureOf,
  type SignatureUse,
  signedReasoning,
  withCallSignatures,
  type ReadPart,
} from '../prompt/signatures.ts'
import { isEmptyText, speaking } from '../prompt/cache-points.ts'
import { schemaFormat } from '../prompt/answer-format.ts'

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

const THINKING_MEMBERS: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'display'])
const OUTPUT: ReadonlySet<string> = new Set(['effort', 'format'])
/** Whether the model reasons, by the type of `thinking`. */
const IS_ON: Readonly<Record<string, boolean>> = { enabled: true, adaptive: true, disabled: false }

/** Null: the caller requests nothing about reasoning. */
function readThinking({ thinking, output_config }: MessagesBody, others: Others): AskedReasoning | null {
  const output = membersOf(output_config)
  others.addRest(output, OUTPUT, { path: ['output_config'], prefix: 'output_config.' })
  const asked = membersOf(thinking)
  others.addRest(asked, THINKING_MEMBERS, { path: ['thinking'], prefix: 'thinking.' })
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
  const formatMembers = membersOf(format)
  const { type = 'text' } = formatMembers
  if (output_config?.format) others.addUnread('output_format', output_format, ['output_format'])
  if (type === 'text') return null
  if (type === JSON_SCHEMA) {
    others.addRest(formatMembers, FORMAT, { path, prefix: 'output_config.format.' })
    return schemaFormat({ schema: formatMembers['schema'] })
  }
  others.add('output_config.format', path)
  return null
}

/** Consecutive turns of one role become one turn, as Anthropic reads them. */
export function readMessageTurns(messages: readonly Message[], others: Others): readonly Turn[] {
  const runs = new TurnRuns()
  for (const [nth, message] of messages.entries()) {
    const path = ['messages', nth, 'content']
    others.addRest(message, MESSAGE, { path: ['messages', nth] })
    const blocks = blocksOf(message.content)
    for (const turn of turnsOf(message.role, blocks, { path, others })) runs.add(turn)
  }
  // Without its empty parts, a turn may disappear, and the turns around it may then be merged.
  const spoken = new TurnRuns()
  for (const turn of runs.turns) spoken.add(withoutSilent(turn, others))
  return spoken.turns
}

function withoutSilent(turn: Turn, others: Others): Turn {
  const lost = (): void => others.add('cache_control', ['messages'])
  switch (turn.role) {
    case 'system':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'user':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'assistant':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'tool':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
  }
}

const MESSAGE = usedMembers('messages', 'turns', { type: 'user' })

interface Place {
  readonly path: JsonPath
  readonly others: Others
}

function turnsOf(
  role: Message['role'],
  blocks: readonly Members[],
  { path, others }: Place,
): readonly Turn[] {
  switch (role) {
    case 'system':
      return [{ role, parts: readSystem(blocks, path, others) }]
    case 'user':
      return blocks.map((block, nth) => readUserBlock(block, [...path, nth], others))
    case 'assistant': {
      const parts = blocks.flatMap((block, nth) => readModelBlock(block, [...path, nth], others))
      return [{ role, parts: withCallSignatures(parts) }]
    }
  }
}

export function readSystem(
  blocks: readonly Members[],
  path: JsonPath,
  others: Others,
): Extract<Turn, { readonly role: 'system' }>['parts'] {
  const parts = blocks.flatMap((block, nth) => {
    if (block['type'] === 'text')
      return readText({ ...block, text: withoutBilling(textOf(block['text']) ?? '') }, [...path, nth], others)
    others.add('messages.content', [...path, nth])
    return []
  })
  return speaking(parts, isEmptyText, () => others.add('cache_control', path))
}

const RESULT = usedMembers('messages', 'parts', { type: 'tool_result' })

/** Reads a block of the user; the result of a tool becomes a separate turn. */
function readUserBlock(block: Members, path: JsonPath, others: Others): Turn {
  if (block['type'] !== 'tool_result') return { role: 'user', parts: readGiven(block, path, others) }
  others.addRest(block, RESULT, { path })
  const { content, is_error: isError } = block
  if (typeof isError !== 'boolean') others.addUnread('is_error', isError, [...path, 'is_error'])
  if (!isContent(content)) others.addUnread('messages.content', content, [...path, 'content'])
  return {
    role: 'tool',
    callId: textOf(block['tool_use_id']) ?? '',
    parts: blocksOf(content).flatMap((one, nth): readonly GivenPart[] =>
      readGiven(one, [...path, 'content', nth], others),
    ),
    isError: isError === true,
    cache: cachePointOf(block['cache_control']),
  }
}

const CALL = usedMembers('messages', 'parts', { type: 'tool_use' })

const THINKING = usedMembers('messages', 'parts', { type: 'thinking' })

const REDACTED = usedMembers('messages', 'parts', { type: 'redacted_thinking' })

function readModelBlock(block: Members, path: JsonPath, others: Others): readonly ReadPart[] {
  const { type } = block
  switch (type) {
    case 'text':
      return readText(block, path, others)
    case 'tool_use':
      others.addRest(block, CALL, { path })
      if (!isObject(block['input'])) others.addUnread('messages.content', block['input'], [...path, 'input'])
      return [
        {
          ...{ kind: 'call', id: textOf(block['id']) ?? '', name: textOf(block['name']) ?? '' },
          ...{ arguments: argumentsText(block['input']), signature: null },
          cache: cachePointOf(block['cache_control']),
        },
      ]
    case 'thinking':
      others.addRest(block, THINKING, { path })
      return reasoningOf(textOf(block['thinking']) ?? '', textOf(block['signature']), 'reasoning')
    case 'redacted_thinking':
      others.addRest(block, REDACTED, { path })
      return reasoningOf('', textOf(block['data']), 'redacted')
    default:
      others.add('messages.content', path)
      return []
  }
}

/** @param of what a signature in this place belongs to */
function reasoningOf(text: string, carried: string | null, of: SignatureUse): readonly ReadPart[] {
  const signature = signatureOf(carried ?? '', { format: SIGNATURE_FORMATS.messages, of })
  return signedReasoning({ text, isSummary: false, id: null }, signature)
}

type Run =
  | { readonly role: 'user'; readonly parts: UserPart[] }
  | { readonly role: 'assistant'; readonly parts: AssistantPart[] }

/** Merges consecutive turns of the same side, and skips turns without content. */
export class TurnRuns {
  readonly #turns: Turn[] = []
  #open: Run | null = null

  get turns(): readonly Turn[] {
    return this.#turns
  }

  add(turn: Turn): void {
    if (turn.role === 'user') for (const part of turn.parts) this.#userParts().push(part)
    else if (turn.role === 'assistant') for (const part of turn.parts) this.#modelParts().push(part)
    else if (turn.role === 'tool' || turn.parts.length > 0) {
      this.#open = null
      this.#turns.push(turn)
    }
  }

  #userParts(): UserPart[] {
    if (this.#open?.role === 'user') return this.#open.parts
    const run: Run = { role: 'user', parts: [] }
    this.#begin(run)
    return run.parts
  }

  #modelParts(): AssistantPart[] {
    if (this.#open?.role === 'assistant') return this.#open.parts
    const run: Run = { role: 'assistant', parts: [] }
    this.#begin(run)
    return run.parts
  }

  #begin(run: Run): void {
    this.#open = run
    this.#turns.push(run)
  }
}
