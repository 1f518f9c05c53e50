import { readFileSync } from 'node:fs'

/** Connections of callers that one front holds at once. Decision. */
export const CONNECTIONS_MAX = 50_000
/** File descriptors that are reserved for providers, stores and files when the process has few; at most half of all descriptors. Decision. */
export const DESCRIPTORS_RESERVED = 1_024

/** Counts the connections of a front: an idle connection costs its client nothing, but occupies a file descriptor here. */
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

  /** Connections refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Counts a new connection. @returns whether it may stay; `left` is called for refused connections too */
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
 * Connections that this process may hold, so that enough descriptors remain for providers and stores.
 * @param streams concurrent long calls of the front to providers: SLUICE_STREAMS
 * @param limits text of `/proc/self/limits`; without it, as on other systems, only the named limit applies
 */
export function connectionsMax(streams: number, limits: string = ownLimits()): number {
  const descriptors = descriptorsIn(limits)
  const reserved = Math.min(DESCRIPTORS_RESERVED + streams, descriptors / 2)
  return Math.min(CONNECTIONS_MAX, Math.floor(descriptors - reserved))
}

/** Files that a process may open, by the text of its `limits`; Infinity if not stated. */
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
