import type { Members } from '../../schemas/values/members.ts'
import { hasCachePoint, wholeCache } from '../cache-points.ts'
import { effortSent, reasoningMember } from '../openai-reasoning.ts'
import { MAKER_TOKENS_MIN } from '../../schemas/models/openai-maker.ts'
import { writeOpenaiNames } from '../../schemas/inference/forms/openai-names.ts'
import type { AnswerFormat, AskedReasoning, Prompt, Turn } from '../prompt.ts'
import { PromptDraft } from '../prompt-draft.ts'
import { writeTuning } from '../tuning.ts'
import type { WriteTerms, WrittenPrompt } from '../write-terms.ts'
import { ENCRYPTED_REASONING } from './read-request.ts'
import { ownFormat, writeItems } from '../../schemas/inference/forms/responses/write-items.ts'
import { writeTools } from '../../schemas/inference/forms/responses/write-tools.ts'

/** A prompt as the body of a call of responses. D5, D6, D8. */
export function writeResponses(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const draft = new PromptDraft(prompt, 'responses', terms)
  const { instructions, rest } = split(prompt.turns)
  draft.set('instructions', instructions)
  draft.set('input', writeItems(draft, rest))
  draft.set('store', false)
  draft.set('max_output_tokens', tokensSent(prompt.tokensMax ?? terms.tokensMax, terms))
  writeTuning(draft, prompt.tuning, 'responses')
  writeOpenaiNames(draft)
  writeTools(draft)
  if (prompt.format !== null) draft.set('text.format', formatMember(prompt.format))
  if (prompt.reasoning !== null) writeReasoning(draft, prompt.reasoning)
  if (isEncryptedWanted(prompt, terms)) draft.set('include', [ENCRYPTED_REASONING])
  const cache = terms.isStrict ? null : wholeCache(prompt)
  draft.set('cache_control', cache)
  // Items have no places of a cache.
  if (hasCachePoint(cache === null ? prompt : { ...prompt, cache: null })) draft.drop('cache_control')
  if (prompt.isStream) draft.set('stream', true)
  return draft.written()
}

/** The first text of the system is the instructions, where it is one. */
function split(turns: readonly Turn[]): {
  readonly instructions: string | null
  readonly rest: readonly Turn[]
} {
  const [first, ...rest] = turns
  const part = first?.role === 'system' && first.parts.length === 1 ? first.parts[0] : undefined
  return part === undefined ? { instructions: null, rest: turns } : { instructions: part.text, rest }
}

function tokensSent(tokensMax: number | null, { isMaker }: WriteTerms): number | null {
  return tokensMax !== null && isMaker ? Math.max(tokensMax, MAKER_TOKENS_MIN) : tokensMax
}

function writeReasoning(draft: PromptDraft, asked: AskedReasoning): void {
  // Other callers get the reasoning with the answer.
  const isShown = asked.isOn === true && !asked.isHidden && draft.isForOthers
  const summary = asked.summary ?? (isShown ? 'auto' : null)
  if (!draft.terms.isStrict && draft.isSameForm)
    return draft.set('reasoning', reasoningMember({ ...asked, summary }))
  const effort = effortSent(draft, asked)
  const member = { ...(effort !== null && { effort }), ...(summary !== null && { summary }) }
  if (Object.keys(member).length > 0) draft.set('reasoning', member)
}

/** Models that do not reason refuse to encrypt their reasoning. */
function isEncryptedWanted({ dialect, reasoning, turns }: Prompt, terms: WriteTerms): boolean {
  if (reasoning?.isEncryptedAsked === true) return true
  if (dialect === 'responses' || terms.isOfPreset === true) return false
  return reasoning?.isOn === true || turns.some((turn) => isSignedBy(ownFormat(terms), turn))
}

/** Whether the turn has reasoning with a signature of this format. */
function isSignedBy(format: string, { parts }: Turn): boolean {
  return parts.some((part) => part.kind === 'reasoning' && part.signature?.format === format)
}

function formatMember(format: AnswerFormat): Members {
  if (format.kind === 'json_object') return { type: format.kind }
  const { kind, name, description, schema, isStrict } = format
  const told = { type: kind, name, ...(description !== null && { description }), schema }
  return { ...told, ...(isStrict !== null && { strict: isStrict }) }
}
