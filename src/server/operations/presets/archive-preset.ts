import { ok } from '../../../schemas/failures.ts'
import { PresetAnswer, PresetParams, PresetQuery } from '../../../schemas/presets/presets.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_PRESET,
  PRESET_CHANGE_FAILURES,
  PRESET_CHANGE_STATUSES,
  presetActorOf,
  presetAnswer,
  presetRefOf,
} from './preset-answers.ts'

/** Archives a preset, so that calls can no longer use it. An extension of Sluice; C20. */
export const archivePreset = defineOperation({
  id: 'presets.archive',
  method: 'post',
  path: '/presets/{slug}/archive',
  tag: 'presets',
  summary: 'Archive a preset',
  description:
    'Calls that use the preset, even with a pinned version, get 404. The preset can still be read; saving a request under its slug reactivates it.',
  input: { params: PresetParams, query: PresetQuery },
  success: { status: 200, body: PresetAnswer },
  statuses: PRESET_CHANGE_STATUSES,
  failures: PRESET_CHANGE_FAILURES,
  example: { params: EXAMPLE_PRESET },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const preset = await ports.presets.archive(ref.value, presetActorOf(call))
    return preset.ok ? ok(presetAnswer(preset.value)) : preset
  },
})
