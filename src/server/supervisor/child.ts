import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../config.ts'
import type { ChildPart, FromChild, ToChild } from './ipc.ts'
import { PACKAGE_ROOT } from './version.ts'

/** Milliseconds that a child may take to become ready; a machine under load is slow. */
const READY_MS_MAX = 30_000
/** Milliseconds that a child may take to hand out its metrics. */
const SNAPSHOT_MS_MAX = 1_000

/** A forked front or runner. */
export class Child {
  readonly part: ChildPart
  readonly pid: number
  /** True when it is ready, false when it ended before. */
  readonly ready: Promise<boolean>
  /** How it ended, in words for the log. */
  readonly ended: Promise<string>
  #isReady = false
  #reason = ''
  #nextAsk = 0
  readonly #asks = new Map<number, (metrics: unknown) => void>()
  readonly #process: ChildProcess

  constructor(part: ChildPart) {
    this.part = part
    // A session of its own: Ctrl-C and a closing terminal reach the supervisor alone, which drains first.
    this.#process = fork(fileURLToPath(new URL('bin/sluice', PACKAGE_ROOT)), [part.role], {
      env: childEnvironment(), execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true,
    })
    this.pid = this.#process.pid ?? 0
    this.ended = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(error.message))
      this.#process.once('exit', (code, by) => {
        for (const settle of this.#asks.values()) settle(null)
        resolve([by ?? `exit code ${code}`, this.#reason].filter((part) => part !== '').join(': '))
      })
    })
    this.ready = this.#whenReady()
    this.#process.on('message', (message: FromChild) => this.#hear(message))
    this.#send({ kind: 'start', part })
  }

  get isReady(): boolean {
    return this.#isReady
  }

  drain(isReplaced: boolean): void {
    this.#send({ kind: 'drain', isReplaced })
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Metrics in prom-client's JSON form; null when it does not answer in time. */
  snapshot(): Promise<unknown> {
    const id = this.#nextAsk++
    return new Promise((resolve) => {
      const settle = (metrics: unknown): void => {
        clearTimeout(timer)
        this.#asks.delete(id)
        resolve(metrics)
      }
      const timer = setTimeout(settle, SNAPSHOT_MS_MAX, null)
      this.#asks.set(id, settle)
      this.#send({ kind: 'snapshot', id })
    })
  }

  #whenReady(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#reason = `not ready after ${READY_MS_MAX} ms`
        this.kill()
      }, READY_MS_MAX)
      const settle = (isReady: boolean): void => {
        clearTimeout(timer)
        this.#isReady = isReady
        resolve(isReady)
      }
      this.#process.on('message', (message: FromChild) => {
        if (message.kind === 'ready') settle(true)
      })
      void this.ended.then(() => {
        settle(false)
      })
    })
  }

  #hear(message: FromChild): void {
    if (message.kind === 'failed') this.#reason = message.reason
    if (message.kind === 'snapshot') this.#asks.get(message.id)?.(message.metrics)
  }

  /** A child that is just ending has no channel any more; its end is told by `ended`. */
  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined)
  }
}
