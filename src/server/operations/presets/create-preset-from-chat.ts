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

/** Saves a preset from a chat request. Source: B2.2, decisions C16, C19, C20. */
export const createPresetFromChat = defineOperation<SavingInputs<'preset_chat'>, PresetInput>({
  id: 'presets.create_from_chat',
  method: 'post',
  path: '/presets/{slug}/chat/completions',
  tag: 'presets',
  summary: 'Save a preset from a chat request',
  description:
    'Works like saving a responses request. Messages with role `system` and `developer` become the system prompt, ' +
    'joined by blank lines; other messages are ignored.',
  idempotent: true,
  input: { params: PresetParams, query: PresetQuery, headers: ['x-session-id'], body: 'preset_chat' },
  success: { status: 200, body: PresetAnswer, headers: SAVING_HEADERS },
  statuses: SAVING_STATUSES,
  failures: SAVING_FAILURES,
  example: {
    params: EXAMPLE_PRESET,
    body: {
      model: 'acme/text',
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 200,
    },
  },
  run: savePreset,
})
