import { CHAT_KEPT } from '../../presets/preset-chat.ts'
import { KEPT, OPENAI_KEPT } from '../../presets/preset-fields.ts'
import type { KeptRequest } from '../../presets/preset-input.ts'
import { functionOf } from './preset-tools.ts'
import { namesOf, textPresetOf, type PresetForm, type TextPreset } from './text-preset.ts'

/**
 * Fields that a call would refuse: those of another form are dropped, since such a preset is never refused.
 */
const REFUSED = ['plugins', 'stop_server_tools_when'] as const
/** Fields with one meaning in every form. */
export const SHARED_FIELDS: readonly string[] = Object.keys(KEPT).filter(
  (name) => !(REFUSED as readonly string[]).includes(name),
)
/** Fields with one meaning in OpenAI's two forms. */
export const OPENAI_FIELDS: readonly string[] = [
  ...SHARED_FIELDS,
  ...Object.keys(OPENAI_KEPT).filter((name) => !Object.hasOwn(KEPT, name)),
  'reasoning',
  'modalities',
]

/** What a chat takes of presets. D10. */
export const CHAT_PRESET: PresetForm = {
  source: 'chat',
  names: {
    chat: namesOf(Object.keys(CHAT_KEPT.properties)),
    responses: namesOf(OPENAI_FIELDS, { max_output_tokens: 'max_tokens' }),
    messages: namesOf([...SHARED_FIELDS, 'max_tokens'], { stop_sequences: 'stop' }),
  },
  together: [
    ['max_tokens', 'max_completion_tokens'],
    ['reasoning', 'reasoning_effort', 'include_reasoning'],
  ],
  toolOf(tool, source) {
    const told = functionOf(tool, source)
    return told === null ? null : { type: 'function', function: told }
  },
  promptEdits(body, systemPrompt) {
    const messages = body.last('messages')
    if (messages === null) return []
    // The list has a message at least.
    const text = `{"role":"system","content":${systemPrompt}},`
    return [{ kind: 'insert', at: messages.start + 1, text }]
  },
}

/** What a chat takes of a preset. D10. */
export function chatPresetOf(content: Omit<KeptRequest, 'ignored'>): TextPreset {
  return textPresetOf(CHAT_PRESET, content)
}
