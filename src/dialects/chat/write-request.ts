import type { Members } from '../../schemas/values/members.ts'
import { hasCachePoint, wholeCache } from '../cache-points.ts'
import { freeformMembers } from '../freeform-tools.ts'
import { chatTokensMember } from '../../schemas/models/openai-maker.ts'
import { effortSent, reasoningMember } from '../openai-reasoning.ts'
import { cacheControl } from '../others.ts'
import type { AnswerFormat, Prompt, PromptTool, ToolChoice } from '../prompt.ts'
import { PromptDraft } from '../prompt-draft.ts'
import { writeTuning } from '../tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../write-terms.ts'
import { writeChatTurns } from '../../schemas/inference/forms/chat/write-chat-turns.ts'
import { writeOpenaiNames } from '../../schemas/inference/forms/openai-names.ts'

/** A prompt as the body of a call of chat completions. D5, D6. */
export function writeChat(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'chat', terms)
  draft.set('messages', writeChatTurns(draft))
  writeTuning(draft, prompt.tuning, 'chat')
  writeOpenaiNames(draft)
  // OpenAI's chat keeps names of calls that it stores, and refuses them for others.
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

/** Providers refuse a choice where there are no tools. */
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
  const told = {
    name,
    ...(description !== null && { description }),
    ...(schema !== null && { parameters: schema }),
    ...(isStrict !== null && { strict: isStrict }),
  }
  return { type: 'function', function: told, ...cut }
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
  // Providers refuse one beside the other.
  if (!draft.terms.isStrict && (draft.isSameForm || reasoning.effort === null))
    return draft.set('reasoning', reasoningMember(reasoning))
  const effort = effortSent(draft, reasoning)
  const taken = draft.terms.isStrict ? effort : commonEffort(effort, draft.terms)
  if (taken !== effort) draft.drop('reasoning.effort')
  draft.set('reasoning_effort', taken)
  if (reasoning.summary !== null) draft.drop('reasoning.summary')
}

/** The nearest of the efforts that every server has. */
const COMMON_EFFORTS: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function commonEffort(effort: string | null, { efforts = [] }: Pick<WriteTerms, 'efforts'>): string | null {
  if (effort === null || efforts.includes(effort)) return effort
  return Object.hasOwn(COMMON_EFFORTS, effort) ? (COMMON_EFFORTS[effort] ?? null) : effort
}

function formatMember(format: AnswerFormat): Members {
  if (format.kind === 'json_object') return { type: format.kind }
  const { kind, name, description, schema, isStrict } = format
  const told = { name, ...(description !== null && { description }), schema }
  return { type: kind, json_schema: { ...told, ...(isStrict !== null && { strict: isStrict }) } }
}
