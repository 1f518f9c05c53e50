/** Records of calls to models that write, for tests. */
import type { Generation, GenerationFacts } from '../../../src/server/ports/inference/generations.ts'
import { generationMsOf } from '../../../src/schemas/inference/generations.ts'
import { nextCallId } from '../../../src/server/operations/model-calls.ts'

export const ORGANIZATION = '019a5b0c-4e21-7000-8000-000000000001'
export const WORKSPACE = '019a5b0c-4e21-7000-8000-000000000002'
export const OTHER_WORKSPACE = '019a5b0c-4e21-7000-8000-000000000003'
export const OTHER_ORGANIZATION = '019a5b0c-4e21-7000-8000-000000000004'

export const FACTS: GenerationFacts = {
  requestId: 'req_1',
  sessionId: null,
  model: 'acme/chat',
  provider: 'first',
  isStreamed: true,
  isCancelled: false,
  finishReason: 'stop',
  usage: { input: 3, cacheRead: 2, cacheWrite: 1, output: 5, reasoning: 4 },
  isEstimated: false,
  chargedNano: 7,
  isByok: false,
  latencyMs: 20,
  upstreamMs: 15,
  firstOutputMs: 10,
  stalledMs: 0,
  attempts: 1,
  dropped: ['top_k'],
  images: 0,
  sounds: 0,
  serviceTier: null,
  price: null,
  unpricedTier: null,
}

/** A record of WORKSPACE. */
export function generation(more: Partial<Generation> = {}): Generation {
  const id = nextCallId('gen_')
  return {
    id,
    createdMs: generationMsOf(id) ?? Number.NaN,
    organizationId: ORGANIZATION,
    workspaceId: WORKSPACE,
    upstreamId: null,
    facts: FACTS,
    ...more,
  }
}

/** A record of an instant, with the id of that instant. */
export function generationAt(iso: string, more: Partial<Generation> = {}): Generation {
  const createdMs = Date.parse(iso)
  const id = `gen_${createdMs.toString(16).padStart(12, '0')}${nextCallId('gen_').slice(-20)}`
  return generation({ id, createdMs, ...more })
}
