import { setImmediate as turn } from 'node:timers/promises'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { CallNotes, FailedAttempt, Log, Meters } from '../../ports/observe.ts'
import { isStrike, mayChangeModel, mayFallBack } from './fallbacks.ts'
import { STRIKES_OF_FAILURE, STRIKES_OF_TIMEOUT } from './health.ts'
import type { Target, TargetTable } from './targets.ts'
import { Trail } from './trail.ts'

export interface AttemptsDeps<P> {
  readonly targets: TargetTable<P>
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
}

/** A call that is tried at endpoints one after another. */
export interface TriedCall {
  readonly caller: Caller
  readonly deadlineAt: number
  /** As in `EmbeddingJob`. */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    sent?(isSent: boolean): void
  }
}

/** An endpoint that a call may reach, and the model that it answers for. */
export interface Choice<P> {
  readonly model: CallableModel
  readonly target: Target<P>
}

/** One attempt of a call. */
export interface Try<P> extends Choice<P> {
  readonly startedAt: number
  /** The clock when the endpoint's time for the attempt is over. */
  readonly endsAt: number
  /** The attempts before it. */
  readonly trail: Trail
}

/** What is known of an attempt that failed. */
interface Learned extends TriedCall {
  /** The failure says nothing about the endpoint. */
  readonly isInnocent: boolean
  /** The answer broke off behind its first output. */
  readonly hasBegun?: boolean
}

/** What differs between kinds of calls: `A` is the answer of an attempt, `R` the result of the call. */
export interface Attempting<P, A, R> {
  /** The clock when an endpoint's time for an attempt is over. */
  endsAtOf(endpoint: Endpoint, startedAt: number): number
  attempt(one: Try<P>): Promise<Outcome<A>>
  /** Reports the answer to the endpoint's health, and makes the result of it. */
  answered(answer: A, one: Try<P>): R
  /** Attempts at most; any number when omitted. */
  readonly attemptsMax?: number
  /** True for a failure that says nothing about the endpoint. */
  isInnocent?(failure: Failure): boolean
}

/**
 * Tries endpoints in order: chooses by health, makes an attempt, learns from its outcome, and goes on to the
 * next endpoint where that may help. Design §10.
 */
export class Attempts<P> {
  readonly #deps: AttemptsDeps<P>

  constructor(deps: AttemptsDeps<P>) {
    this.#deps = deps
  }

  async run<A, R>(
    tried: TriedCall,
    choices: readonly Choice<P>[],
    how: Attempting<P, A, R>,
  ): Promise<Outcome<R>> {
    const trail = new Trail()
    const { deadlineAt, caller, call } = tried
    let refusedBy: CallableModel | null = null
    for (const [nth, { model, target }] of choices.entries()) {
      if (trail.length === how.attemptsMax) break
      if (model === refusedBy) continue
      const startedAt = this.#deps.now()
      if (startedAt >= deadlineAt) return { ok: false, failure: trail.ended({ name: 'deadline_exceeded' }) }
      // The signal is read only when there was time to leave: a signal that is never read is never created.
      if (trail.length > 0 && (await hasEnded(call)))
        return { ok: false, failure: trail.ended(endedBy(call.signal)) }
      if (!target.health.admit(startedAt, caller.key)) {
        trail.skipped(target.health.restMs(startedAt, caller.key))
        continue
      }
      const { provider } = target.endpoint
      const endsAt = how.endsAtOf(target.endpoint, startedAt)
      const one: Try<P> = { model, target, startedAt, endsAt, trail }
      const outcome = await this.#attempt(one, tried, how)
      if (outcome.ok) return ok(how.answered(outcome.value, one))
      const isInnocent = how.isInnocent?.(outcome.failure) ?? false
      const failure = this.learn(outcome.failure, one, { ...tried, isInnocent })
      if (!mayFallBack(failure)) {
        const isLast = !choices.slice(nth + 1).some((other) => other.model !== model)
        if (isLast || !mayChangeModel(failure)) return { ok: false, failure: trail.ending(failure, provider) }
        refusedBy = model
      }
      trail.add(failure, provider, model.id)
    }
    return { ok: false, failure: trail.last() }
  }

  /**
   * Reports a failure to the endpoint's health and the log.
   * @returns the failure; a failure that the call's own deadline caused becomes that deadline
   */
  learn(
    failure: Failure,
    { model, target, startedAt, endsAt }: Try<P>,
    { caller, call, deadlineAt, isInnocent, hasBegun = false }: Learned,
  ): Failure {
    const { targets, meters, log, now: clock } = this.#deps
    const { endpoint, health } = target
    const { name } = failure
    const now = clock()
    const wasOpen = health.isOpen
    const strikes = name === 'upstream_slow' ? STRIKES_OF_TIMEOUT : STRIKES_OF_FAILURE
    // Neither clock runs behind the first output of a stream: a stall is the endpoint's.
    const isLate = name === 'upstream_slow' && !hasBegun
    // The call's own deadline cut this attempt: the endpoint might have answered within its own timeout.
    const isCut = isLate && endsAt > deadlineAt
    if (isStrike(failure) && !isInnocent && !isCut)
      health.strike(now, strikes, caller.key, targets.isAlone(model.endpoints))
    else if (name === 'upstream_refused') health.alive()
    else health.unknown(caller.key)
    meters.upstream(endpoint.provider.slug, name, now - startedAt)
    const durationMs = Math.round(now - startedAt)
    const attempt = failedAttempt(failure, endpoint.provider.slug)
    if (call.notes !== undefined) (call.notes.failedAttempts ??= []).push(attempt)
    const fields = { ...attempt, endpoint: endpoint.tag, failure: name, durationMs }
    log.debug('upstream.attempt_failed', fields)
    if (health.isOpen && !wasOpen) {
      targets.opened(target)
      log.warn('upstream.breaker_opened', fields)
    }
    return isLate && endsAt >= deadlineAt ? { ...failure, name: 'deadline_exceeded' } : failure
  }

  /**
   * This method is no async function: on the hot path each async function costs a turn of the microtask
   * queue.
   */
  #attempt<A>(
    one: Try<P>,
    { caller }: TriedCall,
    how: Pick<Attempting<P, A, unknown>, 'attempt'>,
  ): Promise<Outcome<A>> {
    const { health } = one.target
    const reading = how.attempt(one)
    if (!health.isOpen) return reading
    return reading.catch((bug: unknown) => {
      // A probe without a report would keep the breaker open for ever.
      health.unknown(caller.key)
      throw bug
    })
  }
}

/** The logged facts of a failed attempt. */
function failedAttempt({ name, fields, metadata, cause }: Failure, provider: string): FailedAttempt {
  const status = fields?.['status']
  const broken =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : name
  return {
    provider,
    status: typeof status === 'number' ? status : null,
    code: metadata?.provider_code ?? broken,
  }
}

/**
 * True when the call has ended. While a provider works on a call, Sluice does not watch whether the client
 * leaves; between two attempts it does. C24.
 */
async function hasEnded(call: TriedCall['call']): Promise<boolean> {
  call.sent?.(false)
  // Immediates of this turn run before the event loop polls the sockets again.
  await turn()
  await turn()
  return call.signal.aborted
}
