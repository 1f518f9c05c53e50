/** Finished calls, and batches of them, for tests. */
import { GatheredCalls } from '../../../src/server/observe/requests/gathered-calls.ts'
import type { CallSettled } from '../../../src/server/ports/observe.ts'
import type { RequestBatch } from '../../../src/schemas/requests/request-record.ts'

export const KEY_HASH = 'ab'.repeat(32)

/** An ordinary call of no organization that the store knows. */
export function settledCall(more: Partial<CallSettled> = {}): CallSettled {
  return {
    operation: 'embeddings.create',
    requestId: 'r-1',
    status: 200,
    failure: null,
    isClientGone: false,
    startedAt: 1_000,
    durationMs: 12.3456,
    organizationId: null,
    workspaceId: null,
    keyHash: null,
    limits: null,
    limit: null,
    requestBytes: 100,
    replyBytes: 2_000,
    notes: {},
    ...more,
  }
}

export interface EndedCall extends Partial<CallSettled> {
  /** Unix milliseconds; now, when left out. */
  readonly endedMs?: number
  readonly weight?: number
}

/** A batch of these calls, as a front writes it down. */
export function batchOfCalls(...calls: readonly EndedCall[]): RequestBatch {
  const gathered = new GatheredCalls()
  for (const { endedMs = Date.now(), weight = 1, ...call } of calls)
    gathered.add(settledCall(call), endedMs, weight)
  return gathered.take()
}
