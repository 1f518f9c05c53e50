import { Agent, request as send } from 'node:http'

/** What an answer said, as far as money goes. */
export interface Answer {
  /** 0: none came. */
  readonly status: number
  /** Whole nano-USD that the caller has spent by its answers. */
  readonly costNano: number
  /** `error.metadata` of a refusal. */
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface SpendersInput {
  readonly port: number
  readonly keys: readonly string[]
  readonly model: string
  /** Callers at once. */
  readonly callers: number
  /** Refusals do not end them, only `end` does. */
  readonly goesOn?: boolean
  /** Milliseconds between two calls of a caller that goes on; left out: none. */
  readonly restMs?: number
  /** A whole number from 0 to below `below`. */
  readonly random: (below: number) => number
}

/** Bytes of an input at most, which is what a call may cost at most in micro-USD. */
const INPUT_BYTES_MAX = 1_000
/** A stopped front does not answer; its callers then try another one. */
const ANSWER_MS_MAX = 25_000
/** Refusals in a row after which a caller takes the money for spent. */
const REFUSALS_MAX = 3
/** Between two refused calls of one that goes on. */
const REST_MS = 20
/** Of a connection. */
const REST_MS_MAX = 4_000
const NANO = 1e9

/** Callers that spend what there is, until each is refused again and again. */
export class Spenders {
  readonly #wish: SpendersInput
  readonly #agent: Agent
  readonly statuses: Record<number, number> = {}
  readonly refusals: Answer[] = []
  costNano = 0n
  /** The longest time of the limits stage in an answer, which is the most that Redis may cost it. */
  slowestLimitsMs = 0
  #isEnded = false

  constructor(given: SpendersInput) {
    this.#wish = given
    // A front ends connections that rest: these end theirs first.
    this.#agent = new Agent({ keepAlive: true, maxSockets: given.callers, timeout: REST_MS_MAX })
  }

  /** Until the money is spent, or `end` was called. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#wish.callers }, () => this.#spend()))
  }

  end(): void {
    this.#isEnded = true
  }

  close(): void {
    this.#agent.destroy()
  }

  /** One call of a random price. */
  async call(): Promise<Answer> {
    const { keys, random } = this.#wish
    const answer = await this.#ask(keys[random(keys.length)] ?? '', 'x'.repeat(1 + random(INPUT_BYTES_MAX)))
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1
    this.costNano += BigInt(answer.costNano)
    return answer
  }

  async #spend(): Promise<void> {
    for (let refused = 0; (refused < REFUSALS_MAX || this.#wish.goesOn === true) && !this.#isEnded;) {
      const answer = await this.call()
      const isRefused = answer.status === 402 || answer.status === 403
      refused = isRefused ? refused + 1 : 0
      if (isRefused) this.refusals.push(answer)
      // A caller that is refused at once would otherwise only repeat its call.
      const restMs = Math.max(this.#wish.restMs ?? 0, answer.status >= 400 ? REST_MS : 0)
      if (restMs > 0 && this.#wish.goesOn === true)
        await new Promise((resolve) => setTimeout(resolve, restMs))
    }
  }

  #ask(key: string, input: string): Promise<Answer> {
    const body = JSON.stringify({ model: this.#wish.model, input, encoding_format: 'float' })
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      authorization: `Bearer ${key}`,
    }
    const { port } = this.#wish
    return new Promise((resolve) => {
      const req = send({
        port,
        host: '127.0.0.1',
        path: '/api/v1/embeddings',
        method: 'POST',
        headers,
        agent: this.#agent,
      })
      const lost = (): void => resolve({ status: 0, costNano: 0, metadata: {} })
      req.setTimeout(ANSWER_MS_MAX, () => req.destroy())
      req.on('error', lost)
      req.on('response', (res) => {
        this.slowestLimitsMs = Math.max(
          this.slowestLimitsMs,
          limitsMsOf(String(res.headers['server-timing'] ?? '')),
        )
        let text = ''
        res
          .setEncoding('utf8')
          .on('data', (piece: string) => (text += piece))
          .on('error', lost)
        res.on('end', () => resolve(answerOf(res.statusCode ?? 0, text)))
        res.on('aborted', lost)
      })
      req.end(body)
    })
  }
}

function limitsMsOf(timing: string): number {
  return Number(/\blimits;dur=([\d.]+)/.exec(timing)?.[1] ?? 0)
}

function answerOf(status: number, text: string): Answer {
  const { usage, error } = JSON.parse(text) as {
    usage?: { cost: number }
    error?: { metadata?: Answer['metadata'] }
  }
  return { status, costNano: Math.round((usage?.cost ?? 0) * NANO), metadata: error?.metadata ?? {} }
}
