import {
  REQUESTS_FIRST_WEIGHT,
  REQUESTS_FIRST_WEIGHT_MAX,
  REQUESTS_KINDS_MAX,
  REQUESTS_LAST_WEIGHT,
  REQUESTS_WHOLE_MAX,
} from '../../../schemas/requests/request-limits.ts'

const SECOND_MS = 1_000
const FURTHER = ''

/**
 * Decides which calls that cost nothing the log keeps: the first of each organization, end and second, and of
 * the others so many that the weights of all that are kept come to about the number of calls. A flood of one
 * organization takes no room of others.
 */
export class Sampling {
  readonly #counts = new Map<string, number>()
  #second = 0

  /**
   * @param end the failure of the call, or how it ended without one
   * @returns the calls that this one stands for; 0: it is not kept
   */
  weightOf(nowMs: number, organizationId: string | null, end: string): number {
    const second = Math.floor(nowMs / SECOND_MS)
    if (second !== this.#second) this.#counts.clear()
    this.#second = second
    const kind = `${organizationId ?? ''} ${end}`
    const counted = this.#counts.size < REQUESTS_KINDS_MAX || this.#counts.has(kind) ? kind : FURTHER
    const count = (this.#counts.get(counted) ?? 0) + 1
    this.#counts.set(counted, count)
    return weightAt(count)
  }
}

/** The weight of a call by its number, from 1. */
function weightAt(count: number): number {
  if (count <= REQUESTS_WHOLE_MAX) return 1
  const isFirst = count <= REQUESTS_FIRST_WEIGHT_MAX
  const weight = isFirst ? REQUESTS_FIRST_WEIGHT : REQUESTS_LAST_WEIGHT
  const behind = count - (isFirst ? REQUESTS_WHOLE_MAX : REQUESTS_FIRST_WEIGHT_MAX)
  return behind % weight === 0 ? weight : 0
}
