/**
 * Uploads files to a deployment, one after the other on each connection; each file is removed as soon as it
 * is stored.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { build as buildHistogram } from 'hdr-histogram-js'
import { wholeFile } from '../../test/support/files/wave-file.ts'
import { BOUNDARY, FORM_HEAD, FORM_TAIL } from '../transfers/payload.ts'
import { askerOf, type AskOutcome, type Asker, type Place } from './ask.ts'
import { statusText, type Driven } from './driven.ts'
import { REMOVALS_MAX } from './limits.ts'
import { requestsOfCell, type Cell } from './plan.ts'

/** Milliseconds of one upload. Decision. */
const UPLOAD_MS = 60_000
/** Failures whose reasons are kept. */
const FAILURES_KEPT = 20

export interface Uploading {
  readonly place: Place
  readonly signal: AbortSignal
  /** Microseconds of CPU of the server for each of the given number of requests. */
  readonly cpuUs: (requests: number) => number
}

export async function runUploads(cell: Cell, { place, signal, cpuUs }: Uploading): Promise<Driven> {
  const uploads = new Uploads(cell, place, signal)
  return uploads.run(cpuUs)
}

class Uploads {
  readonly #cell: Cell
  readonly #asker: Asker
  readonly #key: string
  readonly #signal: AbortSignal
  readonly #body: Buffer
  readonly #failures: string[] = []
  readonly #histogram = buildHistogram({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  })
  readonly #beganAt = performance.now()
  #begun = 0
  #good = 0
  #limited = 0
  #failed = 0

  constructor(cell: Cell, place: Place, signal: AbortSignal) {
    this.#signal = signal
    this.#cell = cell
    this.#key = place.key
    this.#asker = askerOf(place, cell.connections)
    this.#body = Buffer.concat([FORM_HEAD, wholeFile(cell.payloadBytes ?? 0), FORM_TAIL])
  }

  async run(cpuUs: (requests: number) => number): Promise<Driven> {
    const cpu = process.cpuUsage()
    await Promise.all(Array.from({ length: this.#cell.connections }, () => this.#work()))
    this.#asker.close()
    const tookMs = performance.now() - this.#beganAt
    const { user, system } = process.cpuUsage(cpu)
    const requests = this.#good + this.#limited + this.#failed
    const perS = (this.#good / tookMs) * 1_000
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile)
    return {
      limited: this.#limited,
      requests,
      sample: {
        cpu_us_per_request: cpuUs(requests),
        cpu_s_per_gb: null,
        requests_per_second: perS,
        mb_per_second: (perS * (this.#cell.payloadBytes ?? 0)) / 1e6,
        latency_us:
          this.#good === 0
            ? null
            : { p50: at(50), p90: at(90), p99: at(99), p99_9: at(99.9), max: this.#histogram.maxValue },
        rss_mb: null,
        generator_cores: (user + system) / 1_000 / tookMs,
        failed: this.#failed + (requests === 0 ? 1 : 0),
        failures: requests === 0 ? ['nothing was answered'] : this.#failures,
      },
    }
  }

  async #work(): Promise<void> {
    const { ratePerS, seconds } = this.#cell
    const most = requestsOfCell(this.#cell)
    const endsAt = this.#beganAt + seconds * 1_000
    for (;;) {
      const dueAt = this.#beganAt + (this.#begun * 1_000) / ratePerS
      if (this.#signal.aborted || this.#begun >= most || Math.max(dueAt, performance.now()) >= endsAt) return
      this.#begun++
      await sleep(Math.max(0, dueAt - performance.now()))
      const waitMs = await this.#upload()
      if (waitMs > 0) await sleep(Math.max(0, Math.min(waitMs, endsAt - performance.now())))
    }
  }

  /** @returns milliseconds that the server asks to wait */
  async #upload(): Promise<number> {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const startedAt = performance.now()
    const outcome = await this.#asker.ask(
      { method: 'POST', path: '/api/v1/files', headers, body: this.#body },
      UPLOAD_MS,
    )
    if (isLimited(outcome)) {
      this.#limited++
      return waitOf(outcome)
    }
    const id =
      'answer' in outcome && outcome.answer.status === 200
        ? /"id":"([\w-]{1,100})"/.exec(outcome.answer.text)?.[1]
        : undefined
    if (id === undefined) {
      this.#fail('answer' in outcome ? statusText(outcome.answer.status) : outcome.code)
      return 0
    }
    this.#good++
    this.#histogram.recordValue(Math.max(1, Math.round((performance.now() - startedAt) * 1_000)))
    await this.#remove(id)
    return 0
  }

  async #remove(id: string): Promise<void> {
    for (let left = REMOVALS_MAX; left > 0; left--) {
      const outcome = await this.#asker.ask({ method: 'DELETE', path: `/api/v1/files/${id}` }, UPLOAD_MS)
      if ('answer' in outcome && [200, 404].includes(outcome.answer.status)) return
      await sleep(isLimited(outcome) ? Math.min(waitOf(outcome), UPLOAD_MS) : 0)
    }
    // An id is a text of the server, which may repeat the key.
    this.#fail(`the file ${id.includes(this.#key) ? '…' : id} could not be removed: it is left there`)
  }

  #fail(text: string): void {
    this.#failed++
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(text)
  }
}

function isLimited(outcome: AskOutcome): boolean {
  return 'answer' in outcome && outcome.answer.status === 429
}

/** Milliseconds to wait: a second where the server gives no time. */
function waitOf(outcome: AskOutcome): number {
  const text = 'answer' in outcome ? outcome.answer.headers['retry-after'] : undefined
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : 1_000
}
