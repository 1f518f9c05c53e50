import { getHeapStatistics } from 'node:v8'
import type { SessionJob } from '../../../src/workers/sessions/protocol.ts'

/**
 * A session thread whose sessions only tell, as the cause of their failure, to how many bytes its heap may
 * grow.
 */
export default function tellLimit(job: SessionJob | null): void {
  job?.port.postMessage({
    kind: 'failed',
    name: 'internal',
    fields: {},
    cause: String(getHeapStatistics().heap_size_limit),
  })
}
