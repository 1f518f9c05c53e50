import { ok } from '../../../schemas/failures.ts'
import { ZdrEndpointsAnswer } from '../../../schemas/models/models.ts'
import type { ResolvedModel } from '../../ports/models/models.ts'
import { defineOperation } from '../define.ts'
import { CLOSE_LIST, itemsInTurns } from './model-query.ts'
import { selectWithoutRetention } from './shown-models.ts'

/** Lists the endpoints that a call with `zdr: true` may reach. Source: B2.3. */
export const listZdrEndpoints = defineOperation({
  id: 'endpoints.list_zdr',
  method: 'get',
  path: '/endpoints/zdr',
  tag: 'models',
  summary: 'List endpoints with zero data retention',
  description:
    "Endpoints that declare zero data retention: the workspace's private endpoints first, then the catalogue's endpoints.",
  input: {},
  success: { status: 200, body: ZdrEndpointsAnswer, isList: true },
  statuses: [403, 500],
  failures: [],
  example: {},
  run: ({ key }, ports) =>
    selectWithoutRetention(key, ports, async (models) =>
      ok({
        kind: 'bytes' as const,
        parts: await partsOf(models),
        contentType: 'application/json',
        isShared: true,
      }),
    ),
})

/** The parts of a list, created once and kept while the selection is cached: a catalogue may have 100,000 models. */
const PARTS_OF = new WeakMap<readonly ResolvedModel[], Promise<readonly Uint8Array[]>>()

function partsOf(models: readonly ResolvedModel[]): Promise<readonly Uint8Array[]> {
  const known = PARTS_OF.get(models)
  if (known !== undefined) return known
  const parts = itemsInTurns(models, ({ zdr }) => zdr).then((items) => [...items, CLOSE_LIST])
  PARTS_OF.set(models, parts)
  return parts
}
