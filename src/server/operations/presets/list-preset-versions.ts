import { ok } from '../../../schemas/failures.ts'
import { PresetPageQuery, PresetParams, PresetVersionListAnswer } from '../../../schemas/presets/presets.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_PRESET,
  PRESET_READ_FAILURES,
  PRESET_READ_STATUSES,
  presetPageOf,
  presetRefOf,
  presetVersionOf,
} from './preset-answers.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the versions of a preset, ascending by number. Source: B2.2. */
export const listPresetVersions = defineOperation({
  id: 'presets.list_versions',
  method: 'get',
  path: '/presets/{slug}/versions',
  tag: 'presets',
  summary: 'List the versions of a preset',
  description: 'Sorted by version number. A page with large versions may contain fewer versions.',
  input: { params: PresetParams, query: PresetPageQuery },
  success: { status: 200, body: PresetVersionListAnswer, isList: true },
  statuses: PRESET_READ_STATUSES,
  failures: PRESET_READ_FAILURES,
  example: { params: EXAMPLE_PRESET, query: { limit: 20 } },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const page = await ports.presets.versions(ref.value, presetPageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, presetPageOf(call.query), presetVersionOf) })
  },
})
