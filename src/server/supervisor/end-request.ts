import { StartRefused } from './start-refused.ts'

/** Why a node ends: by a signal, or because it cannot continue. */
interface Ending {
  readonly why: string
  readonly isFailure: boolean
}

/** Ends a start that was still running when the end was requested. */
export class EndedEarly extends Error {}

/** The request to end the node; only the first cause counts. */
export class EndRequest {
  readonly requested: Promise<Ending>
  /** Rejects with `EndedEarly` after the request. */
  readonly rejected: Promise<never>
  #isRequested = false
  #ask: (ending: Ending) => void = () => undefined

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#ask = resolve
    })
    this.rejected = this.requested.then(({ why, isFailure }) => {
      throw isFailure ? new StartRefused(why) : new EndedEarly()
    })
    // Only the start awaits this promise.
    this.rejected.catch(() => undefined)
  }

  get isRequested(): boolean {
    return this.#isRequested
  }

  ask(ending: Ending): void {
    this.#isRequested = true
    this.#ask(ending)
  }

  throwIfRequested(): void {
    if (this.#isRequested) throw new EndedEarly()
  }
}
