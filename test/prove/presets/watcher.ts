/** Callers who ask again and again what a preset comes to, each over one connection, and so of one front. */
import { Agent, request as send } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { isLate, LATE_IN_ROW_MAX } from '../../support/wire/served.ts'

/** Milliseconds for an answer. */
const ANSWER_MS = 30_000

export interface Seen {
  /** `monotonicMs()` at its first byte out. */
  readonly startedAt: number
  /** What the preset came to, in a word. */
  readonly word: string
}

export interface Question {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly body: object
  /** What an answer says of the preset. */
  read(status: number, body: unknown): string
}

export class Watcher {
  readonly seen: Seen[] = []
  readonly #question: Question
  readonly #pauseMs: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #localPort = 0
  #hasEnded = false
  #running: Promise<void> | null = null

  /** @param pauseMs milliseconds between two requests */
  constructor(question: Question, pauseMs: number) {
    this.#question = question
    this.#pauseMs = pauseMs
  }

  /** That of its connection. */
  get localPort(): number {
    return this.#localPort
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#hasEnded = true
    await this.#running
    this.#agent.destroy()
  }

  async #run(): Promise<void> {
    let late = 0
    while (!this.#hasEnded) {
      const startedAt = monotonicMs()
      const { status, word } = await this.#ask()
      late = isLate(status, monotonicMs() - startedAt) ? late + 1 : 0
      if (late === 0 || late > LATE_IN_ROW_MAX) this.seen.push({ startedAt, word })
      await after(this.#pauseMs)
    }
  }

  #ask(): Promise<{ readonly status: number; readonly word: string }> {
    const { port, path, key, body, read } = this.#question
    const json = JSON.stringify(body)
    return new Promise((resolve) => {
      const failed = ({ message }: Error): void => resolve({ status: 0, word: `failed: ${message}` })
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(json),
      }
      const asked = send(
        { host: '127.0.0.1', port, path, method: 'POST', agent: this.#agent, headers, timeout: ANSWER_MS },
        (answer) => {
          const pieces: Buffer[] = []
          answer.on('data', (piece: Buffer) => pieces.push(piece))
          const status = answer.statusCode ?? 0
          answer.on('end', () => resolve({ status, word: read(status, parsed(Buffer.concat(pieces))) }))
          answer.on('error', failed)
        },
      )
      asked.on('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => void (this.#localPort = socket.localPort ?? 0))
        else this.#localPort = socket.localPort ?? this.#localPort
      })
      asked.on('timeout', () => asked.destroy(new Error('no answer')))
      asked.on('error', failed)
      asked.end(json)
    })
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}
