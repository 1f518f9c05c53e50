import { hasCachePoint } from '../prompt/cache-points.ts'
import { geminiContents } from './contents.ts'
import { PromptDraft } from '../prompt/prompt-draft.ts'
import type { Prompt, Turn, AnswerFormat, AskedReasoning, PromptTool, ToolChoice } from '../prompt/prompt.ts'
import type { WriteTerms, WrittenPrompt } from '../prompt/write-terms.ts'
import { writeTuning, budgetOfEffort } from '../prompt/tuning.ts'
import { tierOf, USUAL_TIER } from '../../schemas/models/price-conditions.ts'
import { geminiModel } from '../../schemas/models/openai-maker.ts'

/** A prompt as the body of Gemini's `generateContent` and `streamGenerateContent`. */
export function writeGemini(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'gemini', terms)
  // The path contains the model.
  draft.leave('model')
  writeContents(draft)
  const { tools = null, toolConfig = null } = geminiTools(prompt)
  draft.set('tools', tools)
  draft.set('toolConfig', toolConfig)
  writeGeminiConfig(draft)
  dropOthers(draft)
  return draft.written()
}

/** The same prompt as the body of `countTokens`. */
export function writeGeminiCount(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const written = writeGemini(prompt, terms)
  const { generationConfig: _, service_tier: __, ...counted } = written.body
  const model = `models/${terms.upstreamModel}`
  return { ...written, body: { generateContentRequest: { model, ...counted } } }
}

function writeContents(draft: PromptDraft): void {
  const { system, contents, isReasoningDropped } = geminiContents(draft.prompt.turns, draft.terms)
  if (system.length > 0) draft.set('systemInstruction', { parts: system })
  draft.set('contents', contents)
  if (isReasoningDropped) draft.drop('reasoning', draft.turnsPath)
}

/** Drops members of parts and tools that Gemini cannot express. */
function dropOthers(draft: PromptDraft): void {
  const { prompt } = draft
  const { tools, isParallel, turns } = prompt
  if (tools.length > 0 && isParallel === false) draft.drop('parallel_tool_calls')
  if (tools.some(({ isStrict }) => isStrict === true)) draft.drop('strict', '/tools')
  // Google caches automatically and has no form for the caller's cache marks.
  if (hasCachePoint(prompt)) draft.drop('cache_control')
  if (hasPart(turns, (part) => part.kind === 'image' && part.detail !== null))
    draft.drop('detail', draft.turnsPath)
  if (hasPart(turns, (part) => part.kind === 'file' && part.filename !== null))
    draft.drop('filename', draft.turnsPath)
}

function hasPart(turns: readonly Turn[], isOne: (part: Turn['parts'][number]) => boolean): boolean {
  return turns.some(({ parts }) => parts.some(isOne))
}

/** Seeds of Gemini are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1

const CONFIG = 'generationConfig'

/** Writes the members that tune, limit and format the answer. */
export function writeGeminiConfig(draft: PromptDraft): void {
  const { prompt, terms } = draft
  const { tuning, stops, tokensMax, format } = prompt
  writeTuning(draft, tuning, 'gemini')
  leaveRefused(draft)
  writeTier(draft)
  draft.set(`${CONFIG}.maxOutputTokens`, tokensMax ?? terms.tokensMax)
  if (stops.length > 0) draft.set(`${CONFIG}.stopSequences`, stops)
  if (format !== null) writeFormat(draft, format)
  draft.set(`${CONFIG}.thinkingConfig`, writeGeminiThinking(draft))
}

/** Removes values that Google refuses. Other servers read a `top_k` of 0 or -1 as all tokens, which is the default. */
function leaveRefused(draft: PromptDraft): void {
  const { topK, seed } = draft.prompt.tuning
  if (topK !== null && (topK <= 0 || !Number.isInteger(topK))) {
    draft.leave(`${CONFIG}.topK`)
    if (topK > 0) draft.drop('top_k')
  }
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX)) return
  draft.leave(`${CONFIG}.seed`)
  draft.drop('seed')
}

/** Google's names of its tiers, by the names in other dialects. */
const TIERS: Readonly<Record<string, string>> = {
  [USUAL_TIER]: 'standard',
  flex: 'flex',
  priority: 'priority',
}

function writeTier(draft: PromptDraft): void {
  const { serviceTier } = draft.prompt.tuning
  if (serviceTier === null) return
  const tier = tierOf('service_tier', serviceTier)
  const name = tier === undefined || draft.terms.isWithoutTier === true ? undefined : TIERS[tier]
  draft.leave('service_tier')
  if (name !== undefined) draft.set('service_tier', name)
  else if (tier !== undefined && tier !== USUAL_TIER) draft.drop('service_tier')
}

/** The name of a schema is left out; its description is moved into the schema, where the model reads it. */
function writeFormat(draft: PromptDraft, format: AnswerFormat): void {
  draft.set(`${CONFIG}.responseMimeType`, 'application/json')
  if (format.kind === 'json_object') return
  const { schema, description } = format
  draft.set(`${CONFIG}.responseJsonSchema`, description === null ? schema : { description, ...schema })
}

/** The most tokens of an answer of Gemini 2.5 when neither the caller nor the endpoint has a maximum. */
const ANSWER_TOKENS_MAX = 65_536

/** Thinking levels of Gemini 3 by effort. `HIGH` is the highest, and no level turns thinking off. */
const LEVELS: Readonly<Record<string, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/**
 * How the model should reason: by the caller's budget if there is one, otherwise by the effort.
 * @returns `thinkingConfig`; null: none is sent
 */
export function writeGeminiThinking(draft: PromptDraft): Readonly<Record<string, unknown>> | null {
  const { prompt, terms } = draft
  const { reasoning } = prompt
  if (reasoning === null) return null
  const model = geminiModel(terms.upstreamModel)
  const effort = effortOf(reasoning)
  const isOff = effort === 'none'
  if (!model.isThird && model.budget === null) {
    if (!isOff) draft.drop('reasoning')
    return null
  }
  if (isSummaryChosen(reasoning)) draft.drop('reasoning.summary')
  if (isEffortLost(reasoning, effort)) draft.drop('reasoning.effort')
  const tokensMax = prompt.tokensMax ?? terms.tokensMax ?? ANSWER_TOKENS_MAX
  const amount = model.isThird
    ? levelOf(reasoning, effort, model.hasMinimal)
    : budgetOf(reasoning, effort, tokensMax)
  const summaries = isOff || reasoning.isHidden ? {} : { includeThoughts: true }
  const config = { ...clamped(amount, model.budget), ...summaries }
  return Object.keys(config).length === 0 ? null : config
}

/** Null: not said. */
function effortOf({ effort, budget, isOn }: AskedReasoning): string | null {
  return isOn === false || budget === 0 ? 'none' : effort
}

/** Google accepts a budget or a level, not both. */
function isEffortLost({ budget }: AskedReasoning, effort: string | null): boolean {
  return effort !== null && (!Object.hasOwn(LEVELS, effort) || (budget !== null && budget > 0))
}

function isSummaryChosen({ summary }: AskedReasoning): boolean {
  return summary !== null && summary !== 'auto'
}

type Amount = { readonly thinkingBudget?: number; readonly thinkingLevel?: string }

function levelOf({ budget }: AskedReasoning, effort: string | null, hasMinimal: boolean): Amount {
  if (budget !== null && budget > 0) return { thinkingBudget: budget }
  const level = effort !== null && Object.hasOwn(LEVELS, effort) ? LEVELS[effort] : undefined
  if (level === undefined) return {}
  return { thinkingLevel: level === 'MINIMAL' && !hasMinimal ? 'LOW' : level }
}

function budgetOf({ budget }: AskedReasoning, effort: string | null, tokensMax: number): Amount {
  if (effort === 'none') return { thinkingBudget: 0 }
  const tokens = budget ?? (effort === null ? null : budgetOfEffort(effort, tokensMax))
  return tokens === null ? {} : { thinkingBudget: tokens }
}

/** Google refuses a budget outside the range of the model. */
function clamped(amount: Amount, range: { readonly min: number; readonly max: number } | null): Amount {
  const { thinkingBudget } = amount
  if (range === null || thinkingBudget === undefined) return amount
  return { thinkingBudget: Math.min(Math.max(thinkingBudget, range.min), range.max) }
}

/** The members of a request that declare functions and control whether the model must call one. */
export function geminiTools({
  tools,
  toolChoice,
}: Pick<Prompt, 'tools' | 'toolChoice'>): Readonly<Record<string, unknown>> {
  if (tools.length === 0) return {}
  const declared = { tools: [{ functionDeclarations: tools.map(declarationOf) }] }
  if (toolChoice === null) return declared
  return { ...declared, toolConfig: { functionCallingConfig: callingOf(toolChoice) } }
}

function declarationOf({ name, description, schema }: PromptTool): object {
  return {
    name,
    ...(description !== null && { description }),
    // `parameters` accepts a subset of OpenAPI schemas; this member accepts all of JSON Schema.
    ...(schema !== null && { parametersJsonSchema: schema }),
  }
}

function callingOf(choice: ToolChoice): object {
  switch (choice.kind) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      // Google accepts function names only in these modes; the second also lets the model write a text.
      return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names }
  }
}
