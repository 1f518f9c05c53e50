import { MAKER_USER_CHARS_MAX } from '../../models/openai-maker.ts'
import type { PromptDraft } from '../../../dialects/prompt-draft.ts'

/** Words and names that OpenAI's two forms have, and other forms write otherwise. */
export function writeOpenaiNames(draft: PromptDraft): void {
  const { dialect, tuning } = draft.prompt
  if (draft.terms.isMaker && (tuning.user ?? '').length > MAKER_USER_CHARS_MAX) draft.cut('user')
  if (dialect === 'messages' && tuning.serviceTier === 'standard_only') draft.set('service_tier', 'default')
}
