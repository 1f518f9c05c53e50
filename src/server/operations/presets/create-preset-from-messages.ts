import { PresetAnswer, PresetParams, PresetQuery } from '../../../schemas/presets/presets.ts'
import type { PresetInput } from '../../ports/presets/presets.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_PRESET } from './preset-answers.ts'
import {
  savePreset,
  SAVING_FAILURES,
  SAVING_HEADERS,
  SAVING_STATUSES,
  type SavingInputs,
} from './save-preset.ts'

/** Saves a preset from a messages request. Source: B2.2, decisions C16, C19, C20. */
export const createPresetFromMessages = defineOperation<SavingInputs<'preset_messages'>, PresetInput>({
  id: 'presets.create_from_messages',
  method: 'post',
  path: '/presets/{slug}/messages',
  tag: 'presets',
  summary: 'Save a preset from a messages request',
  description:
    'Works like saving a responses request. `system` becomes the system prompt, its blocks joined by blank lines; `messages` are ignored.',
  idempotent: true,
  input: { params: PresetParams, query: PresetQuery, headers: ['x-session-id'], body: 'preset_messages' },
  success: { status: 200, body: PresetAnswer, headers: SAVING_HEADERS },
  statuses: SAVING_STATUSES,
  failures: SAVING_FAILURES,
  example: {
    params: EXAMPLE_PRESET,
    body: {
      model: 'acme/text',
      system: 'Answer in one sentence.',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 200,
    },
  },
  run: savePreset,
})
