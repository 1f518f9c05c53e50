import { getHeapStatistics } from 'node:v8'
import type { SessionJob } from '../../../src/workers/sessions/protocol.ts'

/**
 * A session thread whose sessions only fail, and give the maximum size of its heap in bytes as their cause.
 */
export default function tellLimit(job: SessionJob | null): void {
  job?.port.postMessage({
    kind: 'failed',
    name: 'internal',
    fields: {},
    cause: String(getHeapStatistics().heap_size_limit),
  })
}
