/** Another clock compared with that of this machine. */
export interface ClockReading {
  /** Positive: the other clock is ahead. */
  readonly offsetMs: number
  /** Milliseconds by which the offset may be wrong in either direction. */
  readonly uncertaintyMs: number
}

/**
 * @param otherMs unix milliseconds of the other clock
 * @param grainMs smallest step of the other clock: its time may have been later by up to this
 */
export function readingOf(
  otherMs: number,
  trip: { readonly beganMs: number; readonly endedMs: number },
  grainMs = 0,
): ClockReading {
  const middle = (trip.beganMs + trip.endedMs) / 2
  return {
    offsetMs: otherMs + grainMs / 2 - middle,
    uncertaintyMs: (trip.endedMs - trip.beganMs + grainMs) / 2,
  }
}

/** Milliseconds by which the other clock is certainly ahead; negative: late. */
export function certainSkewMs({ offsetMs, uncertaintyMs }: ClockReading): number {
  return Math.sign(offsetMs) * Math.max(0, Math.abs(offsetMs) - uncertaintyMs)
}
