/** Polls of a provider that may be made now, over all runners. It never rejects. Design §7. */
export interface PollBudget {
  /** @param want at least 1 */
  take(provider: string, pollsPerSecond: number, want: number): Promise<PollGrant>
  /** Runners that share the polls of each provider, at least 1. */
  readonly liveRunners: number
}

export interface PollGrant {
  /** From 0 to what was wanted. They are meant for now: those that are not used are lost. */
  readonly granted: number
  /** Milliseconds until another one is free; 0 when all were granted. */
  readonly retryAfterMs: number
}

/** Clock and timers of the engine. */
export interface VideoClock {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Runs something once, after so long. @returns takes it back */
  readonly after: (ms: number, run: () => void) => () => void
}

/** Where jobs that a runner holds are. */
export type HeldVideoState = 'accepted' | 'submitting' | 'running' | 'storing'
export const HELD_VIDEO_STATES: readonly HeldVideoState[] = ['accepted', 'submitting', 'running', 'storing']

/** What the engine counts. Providers are slugs of the catalogue; all else comes from closed sets. */
export interface VideoMeters {
  claimed(provider: string, count: number): void
  submitted(provider: string, result: 'taken' | 'refused' | 'unsent' | 'unknown'): void
  looked(provider: string, result: 'complete' | 'partial' | 'unavailable' | 'adopted'): void
  /** @param lagMs how late it was */
  polled(provider: string, result: 'running' | 'made' | 'failed' | 'unavailable', lagMs: number): void
  stored(provider: string, result: 'stored' | 'retried' | 'refused'): void
  ended(provider: string, status: 'completed' | 'failed' | 'expired' | 'cancelled'): void
  /** Jobs that this runner held no longer when it wanted to go on. */
  lost(count: number): void
}
