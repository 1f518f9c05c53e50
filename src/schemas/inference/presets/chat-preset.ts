import { CHAT_KEPT } from '../../presets/preset-chat.ts'
import { ChatBody } from '../chat.ts'
import type { PresetForm } from '../../../dialects/presets/text-preset.ts'

/** What a chat takes of presets. D10. */
export const CHAT_PRESET: PresetForm = {
  source: 'chat',
  kept: CHAT_KEPT.properties,
  body: ChatBody.properties,
  empty: { messages: [] },
  together: [
    ['max_tokens', 'max_completion_tokens'],
    ['reasoning', 'reasoning_effort', 'include_reasoning'],
  ],
  promptEdits(body, systemPrompt) {
    const messages = body.last('messages')
    if (messages === null) return []
    // The list has a message at least.
    const text = `{"role":"system","content":${systemPrompt}},`
    return [{ kind: 'insert', at: messages.start + 1, text }]
  },
}
