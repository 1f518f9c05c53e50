import { fail, ok } from '../../../schemas/failures.ts'
import { PresetVersionParams, versionNumber } from '../../../schemas/presets/preset-changes.ts'
import { PresetQuery, PresetVersionAnswer } from '../../../schemas/presets/presets.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_PRESET,
  PRESET_READ_FAILURES,
  PRESET_READ_STATUSES,
  presetRefOf,
  presetVersionOf,
} from './preset-answers.ts'

/** Reads one version of a preset. Source: B2.2. */
export const getPresetVersion = defineOperation({
  id: 'presets.get_version',
  method: 'get',
  path: '/presets/{slug}/versions/{version}',
  tag: 'presets',
  summary: 'Get a version of a preset',
  input: { params: PresetVersionParams, query: PresetQuery },
  success: { status: 200, body: PresetVersionAnswer },
  statuses: PRESET_READ_STATUSES,
  failures: ['preset_version_unknown', ...PRESET_READ_FAILURES],
  example: { params: { ...EXAMPLE_PRESET, version: '1' } },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const number = versionNumber(call.params.version)
    if (number === null) return fail('preset_version_unknown')
    const version = await ports.presets.version(ref.value, number)
    return version.ok ? ok({ kind: 'json', value: { data: presetVersionOf(version.value) } }) : version
  },
})
