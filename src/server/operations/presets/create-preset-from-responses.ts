import { PRESET_BYTES_MAX } from '../../../schemas/presets/preset-limits.ts'
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
import { readableBytes } from '../../../schemas/values/readable.ts'

/** Saves a preset from a responses request. Source: §4.2, §2.4, §7, B1.2, decisions C16, C19, C20. */
export const createPresetFromResponses = defineOperation<SavingInputs<'preset_responses'>, PresetInput>({
  id: 'presets.create_from_responses',
  method: 'post',
  path: '/presets/{slug}/responses',
  tag: 'presets',
  summary: 'Save a preset from a responses request',
  description:
    'Creates the preset with this slug, or its next version, and designates it. ' +
    'Saves the fields that later calls can use, `instructions` as the system prompt; `input` and fields for a single request are validated, but not saved. ' +
    `At most ${readableBytes(PRESET_BYTES_MAX)} of JSON can be saved.`,
  idempotent: true,
  input: { params: PresetParams, query: PresetQuery, headers: ['x-session-id'], body: 'preset_responses' },
  success: { status: 200, body: PresetAnswer, headers: SAVING_HEADERS },
  statuses: SAVING_STATUSES,
  failures: SAVING_FAILURES,
  example: {
    params: EXAMPLE_PRESET,
    body: { model: 'acme/text', instructions: 'Answer in one sentence.', input: 'Hello', temperature: 0.2 },
  },
  run: savePreset,
})
