import type { SessionJob } from './protocol.ts'

/** Share of the places for all intakes; the rest is left for downloads. Decision. */
const INTAKES_SHARE = 3 / 4
/** Share of the places for the intakes of one workspace. Decision. */
const HOLDER_INTAKES_SHARE = 1 / 2
/** Share of the places for all sessions of one workspace: 200 slow readers of one workspace fit. Decision. */
const HOLDER_SHARE = 7 / 8

export interface Place {
  /** Call once. */
  leave(): void
}

type Kind = SessionJob['kind']
type Counts = Record<Kind, number>

/**
 * Places of a front's sessions, shared so that no workspace and no direction takes them all. Unlike a
 * `FairSemaphore` nothing waits here, since a session lasts as long as its client wants.
 */
export class Places {
  readonly #placesMax: number
  readonly #taken: Counts = { intake: 0, unseal: 0 }
  readonly #takenBy = new Map<string, Counts>()

  constructor(placesMax: number) {
    this.#placesMax = placesMax
  }

  /** @returns null when there is no place for this kind and holder */
  take(kind: Kind, holder: string): Place | null {
    const taken = this.#taken
    const own = this.#takenBy.get(holder) ?? { intake: 0, unseal: 0 }
    if (!this.#fits(taken, 1) || !this.#fits(own, HOLDER_SHARE)) return null
    if (
      kind === 'intake' &&
      (taken.intake >= this.#most(INTAKES_SHARE) || own.intake >= this.#most(HOLDER_INTAKES_SHARE))
    )
      return null
    taken[kind]++
    own[kind]++
    this.#takenBy.set(holder, own)
    return { leave: () => this.#leave(kind, holder) }
  }

  #leave(kind: Kind, holder: string): void {
    this.#taken[kind]--
    const own = this.#takenBy.get(holder)
    if (own === undefined) return
    own[kind]--
    if (own.intake + own.unseal === 0) this.#takenBy.delete(holder)
  }

  #fits({ intake, unseal }: Counts, share: number): boolean {
    return intake + unseal < this.#most(share)
  }

  #most(share: number): number {
    return Math.floor(this.#placesMax * share)
  }
}
