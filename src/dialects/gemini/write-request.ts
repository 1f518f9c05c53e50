import { hasCachePoint } from '../cache-points.ts'
import { writeGeminiConfig } from '../../schemas/inference/forms/gemini/gemini-config.ts'
import { geminiContents } from './contents.ts'
import { geminiTools } from '../../schemas/inference/forms/gemini/gemini-tools.ts'
import { PromptDraft } from '../prompt-draft.ts'
import type { Prompt, Turn } from '../prompt.ts'
import type { WriteTerms, WrittenPrompt } from '../write-terms.ts'

/** A prompt as the body of Gemini's `generateContent` and `streamGenerateContent`. D5, D6. */
export function writeGemini(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'gemini', terms)
  // It stands in the path.
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

/** What parts and tools ask for, and Gemini has no words for. */
function dropOthers(draft: PromptDraft): void {
  const { prompt } = draft
  const { tools, isParallel, turns } = prompt
  if (tools.length > 0 && isParallel === false) draft.drop('parallel_tool_calls')
  if (tools.some(({ isStrict }) => isStrict === true)) draft.drop('strict', '/tools')
  // Google caches by itself; the caller's own places have no words there.
  if (hasCachePoint(prompt)) draft.drop('cache_control')
  if (hasPart(turns, (part) => part.kind === 'image' && part.detail !== null))
    draft.drop('detail', draft.turnsPath)
  if (hasPart(turns, (part) => part.kind === 'file' && part.filename !== null))
    draft.drop('filename', draft.turnsPath)
}

function hasPart(turns: readonly Turn[], isOne: (part: Turn['parts'][number]) => boolean): boolean {
  return turns.some(({ parts }) => parts.some(isOne))
}
