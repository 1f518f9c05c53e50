import type { SampleRecord } from '../record.ts'

export interface Driven {
  readonly sample: SampleRecord
  /** Answers that only asked to retry later: the limit of the key, not a failure. */
  readonly limited: number
  /** Complete answers and failures. */
  readonly requests: number
}

export function statusText(status: number): string {
  return status >= 300 && status < 400 ? `a redirect (${status}), which is not followed` : `status ${status}`
}
