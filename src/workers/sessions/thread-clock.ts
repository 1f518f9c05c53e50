import type { Worker } from 'node:worker_threads'

/** The busy time of threads, ended threads included. */
export class ThreadClock {
  readonly #busyMs = new Map<number, number>()
  #endedMs = 0

  /** @param threads that live now; call it often, so that little of an ending thread's time is lost */
  busyS(threads: readonly Worker[]): number {
    const living = new Set(threads.map((thread) => thread.threadId))
    for (const [id, busyMs] of this.#busyMs) {
      if (living.has(id)) continue
      this.#endedMs += busyMs
      this.#busyMs.delete(id)
    }
    for (const thread of threads)
      this.#busyMs.set(thread.threadId, thread.performance.eventLoopUtilization().active)
    const livingMs = [...this.#busyMs.values()].reduce((sum, busyMs) => sum + busyMs, 0)
    return (this.#endedMs + livingMs) / 1000
  }
}
