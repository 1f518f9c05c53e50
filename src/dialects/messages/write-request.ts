import type { Members } from '../../schemas/values/members.ts'
import { wholeCache, speaking } from '../prompt/cache-points.ts'
import { cacheControl } from '../prompt/others.ts'
import type {
  Prompt,
  PromptTool,
  ToolChoice,
  AssistantPart,
  PromptReasoning,
  PromptText,
  Turn,
} from '../prompt/prompt.ts'
import { PromptDraft, PLACES } from '../prompt/prompt-draft.ts'
import { writeTuning } from '../prompt/tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../prompt/write-terms.ts'
import { joinedBranches, withinLimits } from '../prompt/json-schemas.ts'
import { writeThinking } from './thinking.ts'
import { fittingId, MESSAGES_CALL_ID, argumentsObject } from '../prompt/calls.ts'
import { returnedSignature, SIGNATURE_FORMATS, takenBack } from '../prompt/signatures.ts'
import { writeGiven, type GivenPart } from './request-parts.ts'
import { laterSystemText } from '../prompt/write-terms.ts'
import { tierOf, USUAL_TIER } from '../../schemas/models/price-conditions.ts'
import { claudeModel } from '../../schemas/models/openai-maker.ts'

/** The most tokens of an answer when neither the caller nor the endpoint has a maximum. Decision. */
export const ANSWER_TOKENS_MAX = 8_192
/** The largest temperature; OpenAI's dialects allow up to 2. */
const TEMPERATURE_MAX = 1

export function writeMessages(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'messages', terms)
  const { system, messages } = writeMessageTurns(draft)
  const tokensMax = prompt.tokensMax ?? terms.tokensMax ?? ANSWER_TOKENS_MAX
  draft.set('max_tokens', tokensMax)
  if (system.length > 0) draft.set('system', system)
  draft.set('messages', messages)
  writeTools(draft)
  writeTuning(draft, prompt.tuning, 'messages')
  writeSampling(draft)
  writeTier(draft)
  if (prompt.stops.length > 0) draft.set('stop_sequences', prompt.stops)
  const effort = writeThinking(draft, { tokensMax, isStepUnsigned: isStepUnsigned(lastStep(messages)) })
  draft.set('output_config.effort', effort)
  draft.set('output_config.format', formatMember(draft))
  draft.set('cache_control', wholeCache(prompt))
  if (prompt.isStream) draft.set('stream', true)
  return draft.written()
}

const SAMPLING = ['temperature', 'top_p', 'top_k']

/** Anthropic's models refuse temperature and top-p together; newer models refuse all sampling members. */
function writeSampling(draft: PromptDraft): void {
  const { temperature, topP, topK } = draft.prompt.tuning
  if (temperature !== null && temperature > TEMPERATURE_MAX) {
    draft.cut('temperature')
    draft.set('temperature', TEMPERATURE_MAX)
  }
  if (topK !== null && topK < 1) draft.leave('top_k')
  if (topP === 1) draft.leave('top_p')
  else if (topP !== null && temperature !== null) draft.cut('top_p')
  if (claudeModel(draft.terms.upstreamModel).hasSampling) return
  if (temperature === TEMPERATURE_MAX) draft.leave('temperature')
  for (const name of SAMPLING) if (draft.has(name)) draft.cut(name)
}

/** Writes OpenAI's tiers by their names in the Messages dialect. */
function writeTier(draft: PromptDraft): void {
  const { serviceTier } = draft.prompt.tuning
  if (draft.isSameForm || serviceTier === null) return
  const tier = tierOf('service_tier', serviceTier)
  draft.leave('service_tier')
  if (tier === USUAL_TIER) draft.set('service_tier', 'standard_only')
  else if (tier !== undefined) draft.drop('service_tier')
}

function writeTools(draft: PromptDraft): void {
  const { tools: declared, toolChoice, isParallel } = draft.prompt
  const tools =
    toolChoice?.kind === 'allowed' ? declared.filter(({ name }) => toolChoice.names.includes(name)) : declared
  const called = tools.length === 0 ? calledTools(draft.prompt) : []
  if (called.length > 0) {
    draft.set('tools', called)
    draft.set('tool_choice', { type: 'none' })
  }
  if (tools.length === 0) return
  draft.set(
    'tools',
    tools.map((tool) => toolMember(draft, tool)),
  )
  const choice = toolChoice === null && isParallel === false ? { type: 'auto' } : choiceMember(toolChoice)
  if (choice === null) return
  const isParallelWritten = isParallel !== null && choice['type'] !== 'none'
  draft.set('tool_choice', isParallelWritten ? { ...choice, disable_parallel_tool_use: !isParallel } : choice)
}

/** Tools called in earlier turns that the caller no longer declares: Anthropic refuses calls of undeclared tools. */
function calledTools({ turns }: Prompt): readonly Members[] {
  const names = turns.flatMap((turn) =>
    turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.kind === 'call' ? part.name : [])) : [],
  )
  return [...new Set(names)].map((name) => ({ name, input_schema: NO_SCHEMA }))
}

const NO_SCHEMA = { type: 'object', properties: {} }

function toolMember(draft: PromptDraft, tool: PromptTool): Members {
  const { name, description, schema, isStrict, cache } = tool
  return {
    name,
    ...(description !== null && { description }),
    input_schema: schema === null ? NO_SCHEMA : inputSchema(draft, schema, tool),
    ...(isStrict === true && { strict: true }),
    ...cacheControl(cache),
  }
}

function inputSchema(draft: PromptDraft, schema: Members, { isStrict, path }: PromptTool): Members {
  if (draft.isSameForm) return { type: 'object', ...schema }
  // A schema whose branches cannot be joined has been refused: see `needsOf`.
  const joined = joinedBranches(schema) ?? { schema, dropped: [] }
  for (const name of joined.dropped) draft.drop(name, path)
  const whole = { type: 'object', ...joined.schema }
  return isStrict === true ? limitedSchema(draft, whole, path) : whole
}

/** Moves limits that Anthropic refuses into the descriptions of the schema. */
function limitedSchema(draft: PromptDraft, schema: Members, path?: string): Members {
  const dropped = new Set<string>()
  const limited = withinLimits(schema, dropped)
  for (const name of dropped) draft.drop(name, path)
  return limited
}

function choiceMember(choice: ToolChoice | null): Members | null {
  if (choice === null) return null
  if (choice.kind === 'tool') return { type: 'tool', name: choice.name }
  const word = choice.kind === 'allowed' ? choice.mode : choice.kind
  return { type: word === 'required' ? 'any' : word }
}

/** A format other than a schema is refused earlier. */
function formatMember(draft: PromptDraft): Members | null {
  const { format } = draft.prompt
  if (format?.kind !== 'json_schema') return null
  if (format.description !== null) draft.drop('response_format.json_schema.description')
  const schema = draft.isSameForm
    ? format.schema
    : limitedSchema(draft, format.schema, PLACES[draft.prompt.dialect].format)
  return { type: format.kind, schema }
}

const OWN = SIGNATURE_FORMATS.messages

/** Anthropic refuses a conversation that begins with the model's turn, and one without turns. */
const OPENING: WrittenMessage = { role: 'user', content: [{ type: 'text', text: '.' }] }

export interface WrittenMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Members[]
}

/** The system text before all turns, and the turns; consecutive turns of one role are merged. */
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

/** If the last turn is the model's, Anthropic continues its text, and refuses white space at the end of that text. */
function ended(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || typeof block?.['text'] !== 'string') return messages
  const text = { ...block, text: block['text'].trimEnd() }
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), text] }]
}

/** A message being built, with tool results first. */
interface Run {
  readonly role: WrittenMessage['role']
  readonly results: Members[]
  readonly others: Members[]
}

function opened(system: readonly Members[], messages: readonly WrittenMessage[]): WrittenTurns {
  const [first] = messages
  // Anthropic refuses a prompt that contains only a system text.
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

/** Removes texts that are only white space: Anthropic refuses them, other providers accept them. */
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

/** Sounds and films are refused earlier. */
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
