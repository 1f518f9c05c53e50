import { ok } from '../../../schemas/failures.ts'
import { PresetListAnswer, PresetPageQuery } from '../../../schemas/presets/presets.ts'
import { defineOperation } from '../define.ts'
import { PRESET_FAILURES, presetPageOf, presetShapeOf, presetWorkspaceOf } from './preset-answers.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists a workspace's presets sorted by slug, including archived ones. Source: B2.2. */
export const listPresets = defineOperation({
  id: 'presets.list',
  method: 'get',
  path: '/presets',
  tag: 'presets',
  summary: 'List presets',
  description: 'Sorted by slug, including archived presets.',
  input: { query: PresetPageQuery },
  success: { status: 200, body: PresetListAnswer, isList: true },
  statuses: [400, 500],
  failures: PRESET_FAILURES,
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const workspace = await presetWorkspaceOf(call, ports)
    if (!workspace.ok) return workspace
    const page = await ports.presets.list(workspace.value, presetPageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, presetPageOf(call.query), presetShapeOf) })
  },
})
