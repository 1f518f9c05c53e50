import type { KeptRequest } from '../../presets/preset-input.ts'
import { MESSAGES_KEPT } from '../../presets/preset-messages.ts'
import { SHARED_FIELDS } from './chat-preset.ts'
import { functionOf } from './preset-tools.ts'
import { isNull } from '../provider-body.ts'
import { jsonOf, namesOf, textPresetOf, valueOf, type PresetForm, type TextPreset } from './text-preset.ts'

/** The words of OpenAI's two forms for a choice of tools. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['required', 'any'],
  ['none', 'none'],
])

/** What a message takes of presets. D10. */
export const MESSAGES_PRESET: PresetForm = {
  source: 'messages',
  names: {
    messages: namesOf(Object.keys(MESSAGES_KEPT.properties)),
    chat: namesOf(SHARED_FIELDS, {
      max_tokens: 'max_tokens',
      max_completion_tokens: 'max_tokens',
      stop: 'stop_sequences',
    }),
    responses: namesOf(SHARED_FIELDS, { max_output_tokens: 'max_tokens' }),
  },
  together: [],
  fieldOf: (name, value) => (name === 'stop' && typeof value === 'string' ? [value] : value),
  choiceOf(choice, hasTools) {
    const word = CHOICES.get(choice)
    return word !== undefined && hasTools ? { type: word } : undefined
  },
  toolOf(tool, source) {
    const told = functionOf(tool, source)
    if (told === null) return null
    const { parameters, ...more } = told
    return { ...more, input_schema: { type: 'object', ...(parameters as object | undefined) } }
  },
  promptEdits(body, systemPrompt) {
    const system = body.last('system')
    if (system === null || isNull(body, system)) return [{ kind: 'add', name: 'system', json: systemPrompt }]
    const block = `{"type":"text","text":${systemPrompt}}`
    const own = valueOf(body, system)
    if (Array.isArray(own))
      return [{ kind: 'insert', at: system.start + 1, text: own.length === 0 ? block : `${block},` }]
    // A value that comes last ends where members are added: no text can be put in there.
    const json = `[${block},{"type":"text","text":${jsonOf(body, system)}}]`
    return [{ kind: 'set', name: 'system', json }]
  },
}

/** What a message takes of a preset. D10. */
export function messagesPresetOf(content: Omit<KeptRequest, 'ignored'>): TextPreset {
  return textPresetOf(MESSAGES_PRESET, content)
}
