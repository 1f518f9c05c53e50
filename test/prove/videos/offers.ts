/** Clients that want jobs: each repeats its call under one key until it is answered, as an SDK does. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { pause } from '../../support/nodes/spawned.ts'

export interface Offer {
  readonly nth: number
  /** In the prompt: names the job at the provider. */
  readonly tag: string
  readonly model: string
  readonly callbackUrl: string
}

export interface Accepted {
  readonly offer: Offer
  readonly id: string
  /** Calls that were made until one was answered. */
  readonly calls: number
}

export interface Answer {
  /** 0: the connection failed. */
  readonly status: number
  readonly text: string
  readonly headers: NodeJS.Dict<string | string[]>
}

/** Milliseconds of one call, and of all calls for one job. */
const CALL_MS_MAX = 35_000
const OFFER_MS_MAX = 90_000
const RETRY_MS = 250
/** Of a connection. */
const REST_MS_MAX = 4_000

interface CallMore {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export class VideoClient {
  /** A front ends connections that rest: these end theirs first. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: REST_MS_MAX })
  readonly #port: number
  readonly #apiKey: string

  constructor(port: number, apiKey: string) {
    this.#port = port
    this.#apiKey = apiKey
  }

  call(method: string, path: string, { body, headers = {} }: CallMore = {}): Promise<Answer> {
    return new Promise((resolve) => {
      const fails = (): void => resolve({ status: 0, text: '', headers: {} })
      const text = body === undefined ? null : JSON.stringify(body)
      const sent = request(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#port,
          method,
          path: `/api/v1${path}`,
          timeout: CALL_MS_MAX,
          headers: {
            authorization: `Bearer ${this.#apiKey}`,
            ...headers,
            ...(text !== null && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
          },
        },
        (answer) => {
          let got = ''
          answer.setEncoding('utf8').on('data', (piece: string) => (got += piece))
          answer.once('end', () =>
            resolve({ status: answer.statusCode ?? 0, text: got, headers: answer.headers }),
          )
          answer.once('error', fails)
        },
      )
      sent.once('error', fails)
      sent.once('timeout', () => sent.destroy())
      sent.end(text ?? undefined)
    })
  }

  /** Calls `reported` with every refusal. @returns null for an offer that was never accepted */
  async offer(
    offer: Offer,
    reported: (answer: Answer) => void,
    msMax = OFFER_MS_MAX,
  ): Promise<Accepted | null> {
    const key = randomUUID()
    const endsAt = performance.now() + msMax
    const body = {
      model: offer.model,
      prompt: `a red ball, ${offer.tag}`,
      duration: 4,
      callback_url: offer.callbackUrl,
    }
    for (let calls = 1; performance.now() < endsAt; calls++) {
      const answer = await this.call('POST', '/videos', { body, headers: { 'idempotency-key': key } })
      if (answer.status === 202) return { offer, id: (JSON.parse(answer.text) as { id: string }).id, calls }
      reported(answer)
      if (answer.status >= 400 && answer.status < 500) return null
      await pause(RETRY_MS)
    }
    return null
  }

  close(): void {
    this.#agent.destroy()
  }
}
