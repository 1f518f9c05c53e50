/** Over all runners. Never rejects. */
export interface PollBudget {
  /** @param want at least 1 */
  take(provider: string, pollsPerSecond: number, want: number): Promise<PollGrant>
  /** Runners that share the polls of each provider, at least 1. */
  readonly liveRunners: number
}

export interface PollGrant {
  /** From 0 to the polls wanted. The polls are for now: unused ones are lost. */
  readonly granted: number
  /** Milliseconds until another poll is free; 0 when all were granted. */
  readonly retryAfterMs: number
}

/** States of the jobs that a runner holds. */
export type HeldVideoState = 'accepted' | 'submitting' | 'running' | 'storing'
export const HELD_VIDEO_STATES: readonly HeldVideoState[] = ['accepted', 'submitting', 'running', 'storing']

/** Providers are slugs of the catalogue; all other labels come from closed sets. */
export interface VideoMeters {
  claimed(provider: string, count: number): void
  submitted(provider: string, result: 'taken' | 'refused' | 'unsent' | 'unknown'): void
  looked(provider: string, result: 'complete' | 'partial' | 'unavailable' | 'adopted'): void
  /** @param lagMs milliseconds by which the poll was late */
  polled(provider: string, result: 'running' | 'made' | 'failed' | 'unavailable', lagMs: number): void
  stored(provider: string, result: 'stored' | 'retried' | 'refused'): void
  ended(provider: string, status: 'completed' | 'failed' | 'expired' | 'cancelled'): void
  /** Jobs that this runner no longer held when it wanted to continue. */
  lost(count: number): void
}
