/** What a process tells about its heap. */

/** Environment variable with the folder in which processes listen, each by its id. */
export const HEAP_FOLDER = 'BENCH_HEAP_FOLDER'

/** Sums since the start of the process. */
export interface HeapReading {
  /**
   * Bytes of JavaScript objects: minor collections times half of the young generation, and what is in that
   * half now. What survived a collection counts twice, and large objects and buffers are not in it.
   */
  readonly allocatedBytes: number
  readonly gcMs: number
}
