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

/** Designates another version of a preset, an earlier or a later one. An extension of Sluice; C20. */
export const designatePreset = defineOperation({
  id: 'presets.designate',
  method: 'post',
  path: '/presets/{slug}/designate',
  tag: 'presets',
  summary: 'Designate a version of a preset',
  description:
    'Rolls a preset back or forward: from now on, calls that do not pin a version use this version. No version is ' +
    'deleted; the next saved version is designated automatically.',
  input: { params: PresetParams, query: PresetQuery, body: 'preset_designate' },
  success: { status: 200, body: PresetAnswer },
  statuses: PRESET_CHANGE_STATUSES,
  failures: ['preset_version_unknown', 'preset_archived', ...PRESET_CHANGE_FAILURES],
  example: { params: EXAMPLE_PRESET, body: { version: 1 } },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const preset = await ports.presets.designate(ref.value, call.body.version, presetActorOf(call))
    return preset.ok ? ok(presetAnswer(preset.value)) : preset
  },
})
