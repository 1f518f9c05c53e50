/** Finished calls, and batches of them, for tests. */
import { GatheredCalls } from '../../../src/server/observe/requests/gathered-calls.ts'
import type { CallSettled } from '../../../src/server/ports/observe.ts'
import { ownRequestId, requestIdPrefix } from '../../../src/schemas/requests/request-id.ts'
import type { RequestBatch } from '../../../src/schemas/requests/request-record.ts'
import { REQUESTS_PACKED_MIN } from '../../../src/server/store/requests/split-batch.ts'

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

const PREFIX = requestIdPrefix(7n)

/** A request id as Sluice makes them, by its number. */
export function ownId(number: number): string {
  return ownRequestId(PREFIX, number)
}

/** The operation of calls that fill a segment up. */
export const FILLER = 'models.list'

/**
 * The same, with so many free calls of each organization that its calls are written as one segment. Their ids
 * must be of `ownId`.
 */
export function segmentOfCalls(...calls: readonly EndedCall[]): RequestBatch {
  const organizations = new Set(calls.map(({ organizationId = null }) => organizationId))
  const fillers = Array.from(organizations, (organizationId) =>
    Array.from({ length: REQUESTS_PACKED_MIN }, (_, n) => ({
      organizationId,
      operation: FILLER,
      requestId: ownId(1_000_000 + n),
    })),
  )
  return batchOfCalls(...fillers.flat(), ...calls)
}
