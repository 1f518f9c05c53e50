import { ok } from '../../../schemas/failures.ts'
import { VideoModelsAnswer } from '../../../schemas/videos/video-models.ts'
import type { ResolvedModel } from '../../ports/models/models.ts'
import { defineOperation } from '../define.ts'

/** Lists the models that generate videos, with their inputs and prices. Source: B2.1. */
export const listVideoModels = defineOperation({
  id: 'video.list_models',
  method: 'get',
  path: '/videos/models',
  tag: 'videos',
  summary: 'List video models',
  description:
    'Each setting lists its allowed values, and other values are refused; null allows any value. Prices per second depend on resolution and sound.',
  access: { keys: ['inference', 'management', 'intern'], keyScopes: [] },
  tellsAccount: true,
  input: {},
  success: { status: 200, body: VideoModelsAnswer, isList: true },
  statuses: [400, 500],
  failures: [],
  example: {},
  run(_call, ports) {
    const found = ports.models.select({ outputModalities: ['video'] })
    return ok({ kind: 'bytes', parts: [listOf(found)], contentType: 'application/json' })
  },
})

/** Joins bodies that are already serialized. */
function listOf(models: readonly ResolvedModel[]): Uint8Array {
  const parts = models.flatMap(({ bodies: { video } }) => (video === null ? [] : [COMMA, video]))
  return Buffer.concat([OPEN, ...parts.slice(1), CLOSE])
}

const OPEN = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']}')
