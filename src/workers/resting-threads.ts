import type { Piscina } from 'piscina'

export interface RestingOptions<J, R> {
  readonly open: () => Piscina<J, R>
  /** Settles when each thread has loaded its code. */
  readonly load: (threads: Piscina<J, R>) => Promise<unknown>
  /** Milliseconds without work after which the threads end and free their memory; null: they stay. */
  readonly idleMs: number | null
  readonly isIdle: () => boolean
  /** Runs before idle threads end. */
  readonly onRest?: (threads: Piscina<J, R>) => void
}

/** Threads that start when they are first used and end when idle, so that an idle process needs no memory for them. */
export class RestingThreads<J, R> {
  readonly #options: RestingOptions<J, R>
  #threads: Piscina<J, R> | null = null
  #loaded: Promise<unknown> = Promise.resolve()
  /** Settles when threads that were idle for too long are gone. */
  #ending: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: RestingOptions<J, R>) {
    this.#options = options
  }

  /** Null while no thread runs. */
  get running(): Piscina<J, R> | null {
    return this.#threads
  }

  /** Settles when the threads have loaded their code: ending a thread earlier aborts the whole process. */
  get loaded(): Promise<unknown> {
    return this.#loaded
  }

  use(): Piscina<J, R> {
    clearTimeout(this.#idle)
    if (this.#threads !== null) return this.#threads
    this.#threads = this.#options.open()
    this.#loaded = this.#options.load(this.#threads)
    return this.#threads
  }

  /** A thread ended, and another one is starting. */
  reload(): void {
    if (this.#threads !== null) this.#loaded = this.#options.load(this.#threads)
  }

  /** Reports that work has ended. Threads that are still loading get a longer time. */
  rest(): void {
    const { idleMs } = this.#options
    if (idleMs === null || !this.#mayEnd()) return
    clearTimeout(this.#idle)
    const threads = this.#threads
    this.#idle = setTimeout(() => void this.#loaded.then(() => this.#end(threads)), idleMs)
    this.#idle.unref()
  }

  /** Ends the threads; to be called when no more work comes. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    await this.#loaded
    await Promise.all([this.#threads?.destroy(), this.#ending])
  }

  #end(threads: Piscina<J, R> | null): void {
    if (threads === null || this.#threads !== threads || !this.#mayEnd()) return
    this.#options.onRest?.(threads)
    this.#threads = null
    this.#ending = Promise.allSettled([this.#ending, threads.destroy()])
  }

  #mayEnd(): boolean {
    return !this.#isClosed && this.#options.isIdle()
  }
}
