import { ok } from '../../../schemas/failures.ts'
import { GenerationAnswer, GenerationQuery } from '../../../schemas/inference/generations.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { defineOperation, type OperationAccess } from '../define.ts'
import { generationRecord } from './generation-answer.ts'

/** Keys of a workspace read its records, management keys those of their organization. D2. */
export const GENERATION_KEYS: OperationAccess = {
  keys: ['inference', 'intern', 'management'],
  keyScopes: ['inference'],
}

/** D3; 400 for a query without an id. */
export const GENERATION_STATUSES = [400, 402, 403, 404, 429, 500] as const

export const EXAMPLE_GENERATION = 'gen_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'

/** Reads the record of a call. Source: D2, D3, D32, D33. */
export const getGeneration = defineOperation({
  id: 'generations.read',
  method: 'get',
  path: '/generation',
  tag: 'inference',
  summary: 'Get the usage record of a call',
  description:
    'Tokens, cost and times of a call to a text model, including calls that failed or were abandoned. The record is ' +
    'available two seconds after the call ends. The record does not contain the prompt or the answer.',
  access: GENERATION_KEYS,
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: GenerationQuery },
  success: { status: 200, body: GenerationAnswer },
  statuses: GENERATION_STATUSES,
  failures: ['generation_unknown', 'store_unavailable'],
  example: { query: { id: EXAMPLE_GENERATION } },
  async run({ key, query }, ports) {
    const { organizationId, workspaceId } = key
    const found = await ports.generations.find({ organizationId, workspaceId, id: query.id })
    if (!found.ok) return found
    return ok({ kind: 'json', value: { data: generationRecord(found.value, ports.publicOrigin) } })
  },
})
