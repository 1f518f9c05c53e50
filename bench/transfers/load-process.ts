/** The generator's own process: runs one plan that it gets by IPC, and returns the result. */
import { build as buildHistogram } from 'hdr-histogram-js'
import { TransferConnection, type TransferOutcome } from './connection.ts'
import { BOUNDARY, fileOf, FORM_HEAD, FORM_TAIL } from './payload.ts'
import type { TransferPlan, TransferRequest, TransferResult } from './plan.ts'

const FAILURES_KEPT = 10
/** Milliseconds after a plan's end at which a running transfer has failed. */
const LATE_MS = 120_000
/** Milliseconds without a byte after which a reader does not count as alive. */
const ALIVE_MS = 15_000

class Transfers {
  readonly #plan: TransferPlan
  readonly #request: readonly Buffer[]
  readonly #failures: string[] = []
  readonly #ids: string[] = []
  readonly #open = new Set<TransferConnection>()
  readonly #histogram = buildHistogram({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  })
  #transfers = 0
  #failed = 0
  #bytes = 0
  #alive = 0
  #endsAt = 0
  #isCut = false

  constructor(plan: TransferPlan) {
    this.#plan = plan
    this.#request = encode(plan.request, plan.payloadBytes)
  }

  async run(): Promise<TransferResult> {
    const { durationMs, connections } = this.#plan
    const startedAt = performance.now()
    const cpu = process.cpuUsage()
    this.#endsAt = startedAt + durationMs
    const cut = setTimeout(() => this.#cut(), this.#plan.isCutAtEnd ? durationMs : durationMs + LATE_MS)
    await Promise.all(Array.from({ length: connections }, () => this.#work()))
    clearTimeout(cut)
    const measuredMs = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpu)
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile) / 1_000
    return {
      transfers: this.#transfers,
      failed: this.#failed,
      failures: this.#failures,
      bytes: this.#bytes,
      measuredMs,
      latency: {
        p50: at(50),
        p90: at(90),
        p99: at(99),
        p99_9: at(99.9),
        max: this.#histogram.maxValue / 1_000,
      },
      generatorCores: (user + system) / 1_000 / measuredMs,
      alive: this.#alive,
      ids: this.#ids,
    }
  }

  async #work(): Promise<void> {
    let connection = this.#connect()
    for (
      let round = 0;
      round < this.#plan.rounds && !this.#isCut && performance.now() < this.#endsAt;
      round++
    ) {
      if (!connection.isOpen) {
        this.#open.delete(connection)
        connection = this.#connect()
      }
      const startedAt = performance.now()
      const outcome = await connection.send(this.#request)
      if (!this.#isCut) this.#record(outcome, performance.now() - startedAt)
    }
    this.#open.delete(connection)
    connection.destroy('finished')
  }

  #connect(): TransferConnection {
    const connection = new TransferConnection(this.#plan.port, this.#plan.readBytesPerS)
    this.#open.add(connection)
    return connection
  }

  #record(outcome: TransferOutcome, tookMs: number): void {
    const { request, payloadBytes } = this.#plan
    const isDownload = request.body === 'none'
    const problem =
      'failure' in outcome
        ? outcome.failure
        : outcome.status !== request.status
          ? `${outcome.status} ${outcome.text.slice(0, 200)}`
          : isDownload && outcome.bytes !== payloadBytes
            ? `${outcome.bytes} bytes instead of ${payloadBytes}`
            : null
    if (problem !== null) {
      this.#failed++
      if (this.#failures.length < FAILURES_KEPT) this.#failures.push(problem)
      return
    }
    this.#transfers++
    this.#bytes += payloadBytes
    this.#histogram.recordValue(Math.max(1, Math.round(tookMs * 1_000)))
    const id = isDownload || 'failure' in outcome ? undefined : /"id":"([^"]+)"/.exec(outcome.text)?.[1]
    if (id !== undefined) this.#ids.push(id)
  }

  /** Ends the running transfers: as planned, or because they are too late. */
  #cut(): void {
    this.#isCut = true
    const now = performance.now()
    for (const connection of this.#open) {
      const isAlive =
        connection.isOpen && (this.#plan.request.body !== 'none' || now - connection.lastReadAt < ALIVE_MS)
      if (!this.#plan.isCutAtEnd || !isAlive) this.#failed++
      else this.#alive++
      this.#bytes += connection.bytes
      connection.destroy('cut')
    }
  }
}

/** The bytes of the request, made once. */
function encode(request: TransferRequest, payloadBytes: number): readonly Buffer[] {
  const payload = request.body === 'none' ? [] : [fileOf(request.file ?? 'media', payloadBytes)]
  const body = request.body === 'form' ? [FORM_HEAD, ...payload, FORM_TAIL] : payload
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(request.body === 'form' ? [`content-type: multipart/form-data; boundary=${BOUNDARY}`] : []),
    ...(request.body === 'none' ? [] : [`content-length: ${length}`]),
  ]
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...body]
}

process.once('message', (plan: TransferPlan) => {
  const transfers = new Transfers(plan)
  process.send?.('started')
  void transfers.run().then((result) => process.send?.(result, () => process.disconnect()))
})
