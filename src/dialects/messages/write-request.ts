import { tierOf, USUAL_TIER } from '../../schemas/money/tiers.ts'
import type { Members } from '../../schemas/values/members.ts'
import { wholeCache } from '../cache-points.ts'
import { PLACES } from '../needs.ts'
import { cacheControl } from '../others.ts'
import type { Prompt, PromptTool, ToolChoice } from '../prompt.ts'
import { PromptDraft } from '../prompt-draft.ts'
import { writeTuning } from '../tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../write-terms.ts'
import { claudeModel } from '../../schemas/inference/forms/messages/claude-models.ts'
import { joinedBranches, withinLimits } from './json-schemas.ts'
import {
  isStepUnsigned,
  lastStep,
  writeMessageTurns,
} from '../../schemas/inference/forms/messages/write-message-turns.ts'
import { writeThinking } from './thinking.ts'

/** Tokens of an answer at most, where neither the caller nor the endpoint has a maximum. Decision. */
export const ANSWER_TOKENS_MAX = 8_192
/** The largest temperature; OpenAI's forms go to 2. */
const TEMPERATURE_MAX = 1

/** A prompt as the body of a call of messages. D5, D6. */
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

/** Models of Anthropic refuse more than one of the first two numbers, and newer ones all of them. */
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

/** The words that messages have for the tiers of OpenAI. */
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
  const isSaid = isParallel !== null && choice['type'] !== 'none'
  draft.set('tool_choice', isSaid ? { ...choice, disable_parallel_tool_use: !isParallel } : choice)
}

/** Tools of earlier turns, which the caller no longer declares: Anthropic refuses calls of undeclared ones. */
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
  // What cannot be joined is refused.
  const joined = joinedBranches(schema) ?? { schema, dropped: [] }
  for (const name of joined.dropped) draft.drop(name, path)
  const whole = { type: 'object', ...joined.schema }
  return isStrict === true ? limitedSchema(draft, whole, path) : whole
}

/** With the limits of the schema in its descriptions, where Anthropic would refuse them. */
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

/** A format that is no schema is refused before. */
function formatMember(draft: PromptDraft): Members | null {
  const { format } = draft.prompt
  if (format?.kind !== 'json_schema') return null
  if (format.description !== null) draft.drop('response_format.json_schema.description')
  const schema = draft.isSameForm
    ? format.schema
    : limitedSchema(draft, format.schema, PLACES[draft.prompt.dialect].format)
  return { type: format.kind, schema }
}
