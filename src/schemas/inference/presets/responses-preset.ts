import type { KeptRequest } from '../../presets/preset-input.ts'
import { RESPONSES_KEPT } from '../../presets/preset-responses.ts'
import { OPENAI_FIELDS, SHARED_FIELDS } from './chat-preset.ts'
import { functionOf } from './preset-tools.ts'
import { isMissing, namesOf, textPresetOf, type PresetForm, type TextPreset } from './text-preset.ts'

/** Between the system prompt of a preset and the caller's own, as JSON writes it. */
const BLANK_LINE = '\\n\\n'

/** What a call of responses takes of presets. D10. */
export const RESPONSES_PRESET: PresetForm = {
  source: 'responses',
  names: {
    responses: namesOf(Object.keys(RESPONSES_KEPT.properties)),
    chat: namesOf(OPENAI_FIELDS, {
      max_tokens: 'max_output_tokens',
      max_completion_tokens: 'max_output_tokens',
      reasoning_effort: 'reasoning',
      response_format: 'text',
    }),
    messages: namesOf(SHARED_FIELDS, { max_tokens: 'max_output_tokens' }),
  },
  together: [],
  fieldOf(name, value) {
    if (name === 'reasoning_effort') return { effort: value }
    return name === 'response_format' ? textOf(value) : value
  },
  toolOf(tool, source) {
    const told = functionOf(tool, source)
    if (told === null) return null
    // OpenAI wants the member, null among its values.
    return { type: 'function', ...told, parameters: told.parameters ?? null }
  },
  promptEdits(body, systemPrompt) {
    const own = body.last('instructions')
    if (own === null || isMissing(body, 'instructions'))
      return [{ kind: 'add', name: 'instructions', json: systemPrompt }]
    return [{ kind: 'insert', at: own.start + 1, text: `${systemPrompt.slice(1, -1)}${BLANK_LINE}` }]
  },
}

/** What a call of responses takes of a preset. D10. */
export function responsesPresetOf(content: Omit<KeptRequest, 'ignored'>): TextPreset {
  return textPresetOf(RESPONSES_PRESET, content)
}

/** A form of answer, which chat writes in an object of the type's name. Undefined: responses have none. */
function textOf(value: unknown): object | undefined {
  const { type, json_schema: schema } = value as { readonly type?: unknown; readonly json_schema?: object }
  if (type === 'text' || type === 'json_object') return { format: { type } }
  return type === 'json_schema' && schema !== undefined ? { format: { type, ...schema } } : undefined
}
