/** CPU and memory that the supervisor itself uses. */
export interface OwnUsed {
  /** Seconds since the previous look, or the start; never 0. */
  readonly seconds: number
  readonly cpuShare: number
  readonly memoryBytes: number
}

/** The supervisor's own CPU since the last look. */
export class OwnUse {
  #cpu = process.cpuUsage()
  #atMs = performance.now()

  read(): OwnUsed {
    const { user, system } = process.cpuUsage(this.#cpu)
    const seconds = Math.max(1e-3, (performance.now() - this.#atMs) / 1_000)
    this.#cpu = process.cpuUsage()
    this.#atMs = performance.now()
    return { seconds, cpuShare: (user + system) / 1e6 / seconds, memoryBytes: process.memoryUsage.rss() }
  }
}
