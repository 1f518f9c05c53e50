import { RESPONSES_KEPT } from '../../presets/preset-responses.ts'
import { ResponsesBody } from '../responses.ts'
import { isMissing, type PresetForm } from '../../../dialects/presets/text-preset.ts'

/** Between the system prompt of a preset and the caller's own, as JSON writes it. */
const BLANK_LINE = '\\n\\n'

/** What a call of responses takes of presets. D10. */
export const RESPONSES_PRESET: PresetForm = {
  source: 'responses',
  kept: RESPONSES_KEPT.properties,
  body: ResponsesBody.properties,
  empty: {},
  together: [],
  promptEdits(body, systemPrompt) {
    const own = body.last('instructions')
    if (own === null || isMissing(body, 'instructions'))
      return [{ kind: 'add', name: 'instructions', json: systemPrompt }]
    return [{ kind: 'insert', at: own.start + 1, text: `${systemPrompt.slice(1, -1)}${BLANK_LINE}` }]
  },
}
