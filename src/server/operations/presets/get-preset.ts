import { ok } from '../../../schemas/failures.ts'
import { PresetAnswer, PresetParams, PresetQuery } from '../../../schemas/presets/presets.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_PRESET,
  PRESET_READ_FAILURES,
  PRESET_READ_STATUSES,
  presetAnswer,
  presetRefOf,
} from './preset-answers.ts'

/** Reads a preset with the version that it designates. Source: B2.2. */
export const getPreset = defineOperation({
  id: 'presets.get',
  method: 'get',
  path: '/presets/{slug}',
  tag: 'presets',
  summary: 'Get a preset',
  input: { params: PresetParams, query: PresetQuery },
  success: { status: 200, body: PresetAnswer },
  statuses: PRESET_READ_STATUSES,
  failures: PRESET_READ_FAILURES,
  example: { params: EXAMPLE_PRESET },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const preset = await ports.presets.get(ref.value)
    return preset.ok ? ok(presetAnswer(preset.value)) : preset
  },
})
