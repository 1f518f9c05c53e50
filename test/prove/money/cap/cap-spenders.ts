/** Callers that spend a budget, and stop on the way until the price window has opened. */
import { pause } from '../../../support/nodes/spawned.ts'
import { answerTo, type CapAnswer, type CapCall } from './cap-calls.ts'

export interface CapSpendersInput {
  readonly ports: readonly number[]
  readonly key: string
  readonly callers: number
  readonly next: () => CapCall
  readonly random: (below: number) => number
  /** Nano-USD of answers after which no call begins before `goOn`. */
  readonly stopNano: number
}

/** Refusals in a row after which a caller takes the money for spent. */
const REFUSALS_MAX = 3
const REST_MS = 20

export class CapSpenders {
  readonly #given: CapSpendersInput
  readonly answers: CapAnswer[] = []
  #costNano = 0
  #hasStopped: () => void = () => undefined
  #goOn: () => void = () => undefined
  readonly #may: Promise<void>
  /** Resolves when all callers have stopped on the way, or have spent what there is. */
  readonly stopped: Promise<void>
  #spending: number

  constructor(given: CapSpendersInput) {
    this.#given = given
    this.#spending = given.callers
    this.stopped = new Promise((resolve) => (this.#hasStopped = resolve))
    this.#may = new Promise((resolve) => (this.#goOn = resolve))
  }

  goOn(): void {
    this.#goOn()
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#given.callers }, () => this.#spend()))
  }

  /** A call besides those of the callers. */
  async ask(call: CapCall): Promise<CapAnswer> {
    const { ports, key, random } = this.#given
    const answer = await answerTo(call, { key, port: ports[random(ports.length)] ?? 0 })
    this.answers.push(answer)
    this.#costNano += answer.costNano
    return answer
  }

  async #spend(): Promise<void> {
    let isCounted = true
    const leave = (): void => {
      if (isCounted && --this.#spending === 0) this.#hasStopped()
      isCounted = false
    }
    for (let refused = 0; refused < REFUSALS_MAX;) {
      if (this.#costNano >= this.#given.stopNano) {
        leave()
        await this.#may
      }
      const { status } = await this.ask(this.#given.next())
      refused = status === 402 || status === 403 ? refused + 1 : 0
      if (status !== 200) await pause(REST_MS)
    }
    leave()
  }
}
