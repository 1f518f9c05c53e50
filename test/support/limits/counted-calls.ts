/** Limits of calls to models, counted in memory; no token becomes free with time. */
import {
  NO_CALL_LIMITS,
  type CallLimits,
  type LimitsOfCalls,
} from '../../../src/schemas/limits/model-calls.ts'
import { createModelCalls, type FrontModelCalls } from '../../../src/server/limits/model-calls.ts'
import type { CallAuthority, CallGrant, LimitedCall } from '../../../src/server/ports/model-calls.ts'
import type { Teardown } from '../teardown.ts'

export class CountedCalls implements CallAuthority {
  readonly isReachable = true
  /** Calls under way. */
  readonly held = new Set<string>()
  /** Tokens that were taken and did not come back. */
  tokens = 0
  asked = 0
  ended = 0
  /** Calls wait for it before they are let in. */
  gate: Promise<void> = Promise.resolve()

  async take({ id, places, tokens }: LimitedCall, want: number): Promise<CallGrant> {
    this.asked += 1
    await this.gate
    const full = places.find(({ max }) => this.held.size >= max)
    if (full !== undefined) return { isGranted: false, by: full }
    const left = tokens.map(({ perMinute }) => ({ remaining: perMinute - this.tokens, resetAfterMs: 9_000 }))
    const at = left.findIndex(({ remaining }) => remaining < want)
    const [by, its] = [tokens[at], left[at]]
    if (by !== undefined && its !== undefined) return { isGranted: false, by, left: its, retryAfterMs: 7_000 }
    this.held.add(id)
    this.tokens += want
    return { isGranted: true, left: left.map((one) => ({ ...one, remaining: one.remaining - want })) }
  }

  giveBack({ id }: LimitedCall, tokens: number): void {
    this.ended += 1
    this.held.delete(id)
    this.tokens += tokens
  }

  renew(): void {
    // Nothing ends by itself.
  }

  onReturn(): () => void {
    return () => undefined
  }
}

export function openCountedCalls(t: Teardown): { calls: FrontModelCalls; counted: CountedCalls } {
  const counted = new CountedCalls()
  const calls = createModelCalls({
    authority: counted,
    fronts: { liveFronts: 1 },
    now: () => performance.now(),
  })
  t.teardown(() => calls.close())
  return { calls, counted }
}

export function limitsOf(key: Partial<CallLimits>, workspace: Partial<CallLimits> = {}): LimitsOfCalls {
  return { key: { ...NO_CALL_LIMITS, ...key }, workspace: { ...NO_CALL_LIMITS, ...workspace } }
}
