import { setImmediate as turn } from 'node:timers/promises'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { CallableModel, Endpoint, Provider } from '../../ports/models/models.ts'
import type { CallNotes, FailedAttempt, Log, Meters } from '../../ports/observe.ts'
import { isStrike, mayChangeModel, mayFallBack, rankOf } from './fallbacks.ts'
import type { Target, TargetTable } from './targets.ts'
import type { PreviousError } from '../../../schemas/failure-metadata.ts'
import { named } from '../provider-failure.ts'
import { STRIKES_OF_FAILURE, STRIKES_OF_TIMEOUT } from './targets.ts'

export interface AttemptsDeps<P> {
  readonly targets: TargetTable<P>
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds on the clock of the deadlines. */
  readonly now: () => number
}

/** A call that is tried at endpoints one after another. */
export interface TriedCall {
  readonly caller: Caller
  readonly deadlineAt: number
  /** As in `EmbeddingCaller`. */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts' | 'attemptTimes'>
    sent?(isSent: boolean): void
  }
}

/** An endpoint that a call may reach, and the model for which it answers. */
export interface Choice<P> {
  readonly model: CallableModel
  readonly target: Target<P>
}

export interface Try<P> extends Choice<P> {
  /** The time at which the endpoint was chosen, or at which the request was ready to be sent, if `ready` reports it. */
  startedAt: number
  /** The time at which the endpoint's time for the attempt ends. */
  endsAt: number
  /** The attempts before it. */
  readonly trail: Trail
  readonly others: OtherModels<P>
}

interface OtherModels<P> {
  /** Whether another model has an endpoint that accepts the call now. */
  hasOther(model: Choice<P>['model']): boolean
}

interface Learned extends TriedCall {
  /** The failure says nothing about the endpoint. */
  readonly isInnocent: boolean
  /** The answer broke off after its first output. */
  readonly hasBegun?: boolean
}

/** What differs between kinds of calls: `A` is the answer of an attempt, `R` the result of the call. */
export interface Attempting<P, A, R> {
  /** The time at which an endpoint's time for an attempt ends. */
  endsAtOf(endpoint: Endpoint, startedAt: number): number
  attempt(one: Try<P>): Promise<Outcome<A>>
  /** Reports the answer to the endpoint's health, and makes the call's result from it. */
  answered(answer: A, one: Try<P>): R
  /** Attempts at most; any number when omitted. */
  readonly attemptsMax?: number
  /** True for a failure that says nothing about the endpoint. */
  isInnocent?(failure: Failure): boolean
}

/**
 * Tries endpoints in order: chooses by health, makes an attempt, learns from its outcome, and tries the next endpoint
 * where that may help. Design §10.
 */
export class Attempts<P> {
  readonly #deps: AttemptsDeps<P>

  constructor(deps: AttemptsDeps<P>) {
    this.#deps = deps
  }

  run<A, R>(tried: TriedCall, choices: readonly Choice<P>[], how: Attempting<P, A, R>): Promise<Outcome<R>> {
    return new Tries(this, this.#deps, { tried, choices, how }).run()
  }

  /**
   * Reports a failure to the endpoint's health and the log.
   * @returns the failure; a failure that the call's own deadline caused is replaced by the failure of that deadline
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
    // After the first output of a stream neither deadline applies: a stall is then the endpoint's failure.
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
    if (call.notes !== undefined) {
      ;(call.notes.failedAttempts ??= []).push(attempt)
      ;(call.notes.attemptTimes ??= []).push(startedAt, now - startedAt)
    }
    const fields = { ...attempt, endpoint: endpoint.tag, failure: name, durationMs }
    log.debug('upstream.attempt_failed', fields)
    if (health.isOpen && !wasOpen) {
      targets.opened(target)
      log.warn('upstream.breaker_opened', fields)
    }
    if (isLate && endsAt >= deadlineAt) return { ...failure, name: 'deadline_exceeded' }
    return name === 'upstream_overloaded' ? rested(failure, health.restMs(now, caller.key)) : failure
  }
}

interface Tried<P, A, R> {
  readonly tried: TriedCall
  readonly choices: readonly Choice<P>[]
  readonly how: Attempting<P, A, R>
}

/**
 * The attempts of one call. It uses methods and one `then` for each attempt: an async function with this loop made a
 * kilobyte of garbage for each call.
 */
class Tries<P, A, R> implements OtherModels<P> {
  readonly #attempts: Attempts<P>
  readonly #deps: AttemptsDeps<P>
  readonly #tried: TriedCall
  readonly #choices: readonly Choice<P>[]
  readonly #how: Attempting<P, A, R>
  readonly #trail = new Trail()
  #nth = -1
  #refusedBy: CallableModel | null = null

  constructor(attempts: Attempts<P>, deps: AttemptsDeps<P>, { tried, choices, how }: Tried<P, A, R>) {
    this.#attempts = attempts
    this.#deps = deps
    this.#tried = tried
    this.#choices = choices
    this.#how = how
  }

  run(): Promise<Outcome<R>> {
    for (let choice = this.#next(); choice !== null; choice = this.#next()) {
      const startedAt = this.#deps.now()
      if (startedAt >= this.#tried.deadlineAt) return failed(this.#trail.ended({ name: 'deadline_exceeded' }))
      // The signal is read only when the caller had time to disconnect: a signal that is never read is never created.
      if (this.#trail.length > 0) return this.#goOn(choice, startedAt)
      const attempted = this.#try(choice, startedAt)
      if (attempted !== null) return attempted
    }
    return failed(this.#trail.last())
  }

  async #goOn(choice: Choice<P>, startedAt: number): Promise<Outcome<R>> {
    const { call } = this.#tried
    if (await hasEnded(call)) return failed(this.#trail.ended(endedBy(call.signal)))
    return this.#try(choice, startedAt) ?? this.run()
  }

  #next(): Choice<P> | null {
    if (this.#trail.length === this.#how.attemptsMax) return null
    for (;;) {
      const choice = this.#choices[++this.#nth]
      if (choice === undefined) return null
      if (choice.model !== this.#refusedBy) return choice
    }
  }

  hasOther(model: CallableModel): boolean {
    if (this.#trail.length + 1 === this.#how.attemptsMax) return false
    const now = this.#deps.now()
    const { key } = this.#tried.caller
    return this.#choices
      .slice(this.#nth + 1)
      .some((other) => other.model !== model && other.target.health.restMs(now, key) === 0)
  }

  /** @returns null when the endpoint's health admits no call */
  #try({ model, target }: Choice<P>, startedAt: number): Promise<Outcome<R>> | null {
    const { health, endpoint } = target
    const { key } = this.#tried.caller
    if (!health.admit(startedAt, key)) {
      this.#trail.skipped(health.restMs(startedAt, key))
      return null
    }
    const endsAt = this.#how.endsAtOf(endpoint, startedAt)
    const one: Try<P> = { model, target, startedAt, endsAt, trail: this.#trail, others: this }
    const reading = this.#how.attempt(one)
    const watched = health.isOpen ? this.#watched(reading, one) : reading
    return watched.then((outcome) => this.#ended(outcome, one))
  }

  /** A probe without a report would keep the breaker open forever. */
  #watched(reading: Promise<Outcome<A>>, { target }: Try<P>): Promise<Outcome<A>> {
    return reading.catch((bug: unknown) => {
      target.health.unknown(this.#tried.caller.key)
      throw bug
    })
  }

  #ended(outcome: Outcome<A>, one: Try<P>): Outcome<R> | Promise<Outcome<R>> {
    if (outcome.ok) return ok(this.#how.answered(outcome.value, one))
    const { model, target } = one
    const { provider } = target.endpoint
    const { caller, call, deadlineAt } = this.#tried
    const isInnocent = this.#how.isInnocent?.(outcome.failure) ?? false
    const failure = this.#attempts.learn(outcome.failure, one, { caller, call, deadlineAt, isInnocent })
    if (!mayFallBack(failure)) {
      if (!mayChangeModel(failure) || !this.hasOther(model))
        return failed(this.#trail.ending(failure, provider))
      this.#refusedBy = model
    }
    this.#trail.add(failure, provider, model.id)
    return this.run()
  }
}

/**
 * An overloaded provider that names no wait gets no calls for the rest of its breaker's pause.
 * @param restMs 0 while the breaker is closed
 */
function rested(failure: Failure, restMs: number): Failure {
  return { retryAfterS: Math.max(1, Math.ceil(restMs / 1_000)), ...failure }
}

function failed(failure: Failure): Promise<Outcome<never>> {
  return Promise.resolve({ ok: false, failure })
}

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
 * True when the call has ended. While a provider works on a call, Sluice does not check whether the client disconnects;
 * between two attempts it does.
 */
async function hasEnded(call: TriedCall['call']): Promise<boolean> {
  call.sent?.(false)
  // Immediates of this turn run before the event loop polls the sockets again, so a turn must pass.
  await turn()
  await turn()
  return call.signal.aborted
}

const NONE: readonly PreviousError[] = []

/** Shared and never changed: the first failure makes a new list. */
const NO_FAILURES: Attempted[] = []

interface Attempted {
  readonly failure: Failure
  readonly model: string
  readonly provider: Provider
  readonly error: PreviousError
}

/** The failed attempts of one call, in order. */
export class Trail {
  #failures: Attempted[] = NO_FAILURES
  #leastRestMs = Infinity

  get length(): number {
    return this.#failures.length
  }

  get errors(): readonly PreviousError[] {
    return this.#failures.length === 0 ? NONE : this.#failures.map(({ error }) => error)
  }

  add(failure: Failure, provider: Provider, model: string): void {
    const status = failure.fields?.['status']
    const code = failure.metadata?.provider_code ?? failure.name
    if (this.#failures === NO_FAILURES) this.#failures = []
    this.#failures.push({
      failure,
      model,
      provider,
      error: { provider: provider.name, code, status: typeof status === 'number' ? status : null },
    })
  }

  /** Notes an endpoint that was skipped because its breaker is open. */
  skipped(restMs: number): void {
    this.#leastRestMs = Math.min(this.#leastRestMs, restMs)
  }

  /** A failure that ends the call, since no other endpoint could succeed, with the attempts before it. */
  ending(failure: Failure, provider: Provider): Failure {
    const isProviders = failure.name.startsWith('upstream_') || failure.name === 'deadline_exceeded'
    return withMetadata(failure, isProviders ? provider : null, this.errors)
  }

  /** The failure of a call that ended before its next attempt, with the attempts before it. */
  ended(failure: Failure): Failure {
    return withMetadata(failure, null, this.errors)
  }

  /** The failure of a call whose attempts have all failed. It names the model that was tried last. */
  last(): Failure {
    if (this.#failures.length === 0) {
      return { name: 'endpoint_unavailable', retryAfterS: Math.max(1, Math.ceil(this.#leastRestMs / 1_000)) }
    }
    const model = this.#failures.at(-1)?.model
    const shown = this.#failures
      .filter((one) => one.model === model)
      .reduce((best, one) => (rankOf(one.failure) < rankOf(best.failure) ? one : best))
    const others = this.#failures.filter((one) => one !== shown).map(({ error }) => error)
    return withMetadata(
      shown.failure,
      shown.failure.name.startsWith('upstream_') ? shown.provider : null,
      others,
    )
  }
}

function withMetadata(
  failure: Failure,
  provider: Provider | null,
  previous: readonly PreviousError[],
): Failure {
  const before = previous.length === 0 ? {} : { previous_errors: previous }
  const shown = provider === null ? failure : named(failure, provider.name)
  return { ...shown, metadata: { ...shown.metadata, ...before } }
}
