import { readFileSync } from 'node:fs'
import { CONNECTIONS_MAX, DESCRIPTORS_RESERVED } from '../../schemas/limits/limits.ts'

/**
 * Counts the connections of a front: idle ones cost their clients nothing, and each takes a descriptor of
 * ours.
 */
export class Connections {
  readonly #max: number
  #open = 0
  #refused = 0

  constructor(max: number) {
    this.#max = max
  }

  get open(): number {
    return this.#open
  }

  /** Since the start. */
  get refused(): number {
    return this.#refused
  }

  /** @returns whether the one that came may stay; `left` is told of those that may not as well */
  came(): boolean {
    if (++this.#open <= this.#max) return true
    this.#refused++
    return false
  }

  left(): void {
    this.#open--
  }
}

/**
 * Connections that this process may hold: so many that descriptors remain for providers and stores.
 * @param limits text of `/proc/self/limits`; without it, as on other systems, the named limit alone counts
 */
export function connectionsMax(limits: string = ownLimits()): number {
  const descriptors = descriptorsIn(limits)
  return Math.min(CONNECTIONS_MAX, Math.floor(descriptors - Math.min(DESCRIPTORS_RESERVED, descriptors / 2)))
}

/** What a process may open, by the text of its `limits`; Infinity when that does not say. */
export function descriptorsIn(limits: string): number {
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1')
  } catch {
    return ''
  }
}
