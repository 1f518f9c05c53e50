import { fail, type Failure, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { chargedNano } from '../../schemas/money/costs.ts'
import { usdOfNano } from '../../schemas/money/usd.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import type { AdmittedCall } from '../ports/model-calls.ts'
import type { CallCost, CallFacts, CostBound, Hold, HoldInput, WriteWaiter } from '../ports/money/money.ts'
import { isCallLimited } from '../../schemas/limits/model-calls.ts'
import type { Ports } from '../ports/ports.ts'
import { PRESET_USE_FAILURES } from './apply-preset.ts'
import type { Call, Success } from './define.ts'

/** Failures of every operation that calls models, beside those of its body. */
export const MODEL_CALL_FAILURES = [
  'body_invalid',
  ...PRESET_USE_FAILURES,
  'header_invalid',
  'model_unknown',
  'model_not_allowed',
  'scope_missing',
  'tokens_over_limit',
  'model_unfit',
  'endpoint_excluded',
  'endpoint_unconfigured',
  'endpoint_unavailable',
  'hops_exceeded',
  'upstream_failed',
  'upstream_invalid',
  'upstream_too_large',
  'upstream_credential',
  'upstream_own_key',
  'provider_key_unfit',
  'upstream_overloaded',
  'upstream_slow',
  'upstream_refused',
  'credential_unavailable',
  'deadline_exceeded',
  'draining',
  'client_gone',
] as const satisfies readonly FailureName[]

/** Failures of every operation that pays for its calls of models, beside those of its body. */
export const PAID_CALL_FAILURES = [
  ...MODEL_CALL_FAILURES,
  'credit_exhausted',
  'key_limit_exceeded',
  'budget_exceeded',
  'cost_unbounded',
  'internal',
] as const satisfies readonly FailureName[]

export interface PaidCall<R> {
  readonly operation: string
  /** Id of the model, the first of several. */
  readonly model: string
  readonly bound: CostBound
  /** Tokens that the call is expected to use. D29. */
  estimatedTokens(): number
  /** Tokens that it has used. */
  usedTokens(result: R): number
  /**
   * Makes the call. A failure costs nothing.
   * @param hold is told how far a streamed answer has come, and nothing else. D28
   */
  run(hold: Pick<Hold, 'progress'>): Promise<Outcome<R>>
  /** Adds to a refusal of the reservation what only this kind of call knows. */
  refused?(failure: Failure): Failure
  /** Settles or releases the hold, and answers. */
  ended(result: R, hold: Hold): Outcome<Success>
}

type PayingCall = Pick<Call, 'key' | 'requestId' | 'signal' | 'deadlineAt' | 'hasEnded' | 'limited' | 'notes'>

/**
 * Reserves the most that a call may cost, makes the call, and pays its cost: nothing without a result. Before
 * that the call takes its place and its tokens where the key or its workspace has limits of them. Failures:
 * those of `Spend.hold`, of `ModelCalls.admit` and of the call, store_unavailable. Design §6, D29.
 */
export function paidCall<R>(
  call: PayingCall,
  paid: PaidCall<R>,
  ports: Pick<Ports, 'spend' | 'modelCalls'>,
): Promise<Outcome<Success>> {
  return new Promise((resolve, reject) => new Payment(call, paid, ports.spend, resolve, reject).begin(ports))
}

/**
 * One call on its way from the admission to its end. One promise for the caller, and methods: as an async
 * function with its inputs it was a kilobyte of garbage a call more.
 */
class Payment<R> implements HoldInput, CallFacts, WriteWaiter {
  readonly key: PayingCall['key']
  readonly bound: CostBound
  readonly deadlineAt: number
  readonly requestId: string
  readonly operation: string
  readonly model: string
  readonly #call: PayingCall
  readonly #paid: PaidCall<R>
  readonly #spend: Ports['spend']
  readonly #resolve: (outcome: Outcome<Success>) => void
  readonly #reject: (bug: unknown) => void
  /** Null: the key has no limits of calls, or the call has not been admitted. */
  #admitted: AdmittedCall | null = null
  /** Null: nothing is held yet. */
  #hold: Hold | null = null
  #begunAt = 0
  #usedTokens = 0

  constructor(
    call: PayingCall,
    paid: PaidCall<R>,
    spend: Ports['spend'],
    resolve: (outcome: Outcome<Success>) => void,
    reject: (bug: unknown) => void,
  ) {
    this.key = call.key
    this.bound = paid.bound
    this.deadlineAt = call.deadlineAt
    this.requestId = call.requestId
    this.operation = paid.operation
    this.model = paid.model
    this.#call = call
    this.#paid = paid
    this.#spend = spend
    this.#resolve = resolve
    this.#reject = reject
  }

  get facts(): CallFacts {
    return this
  }

  signal(): AbortSignal {
    return this.#call.signal
  }

  begin({ modelCalls }: Pick<Ports, 'modelCalls'>): void {
    if (!isCallLimited(this.key.callLimits)) return this.#reserve()
    modelCalls
      .admit({ key: this.key, estimate: () => this.#paid.estimatedTokens() })
      .then((admitted) => this.#admit(admitted))
      .catch((bug: unknown) => this.#threw(bug))
  }

  #admit(admitted: AdmittedCall): void {
    const { failure, headers } = admitted
    if (headers !== null) this.#call.limited(headers)
    if (failure !== null) return this.#resolve({ ok: false, failure })
    this.#admitted = admitted
    this.#reserve()
  }

  #reserve(): void {
    this.#begunAt = performance.now()
    try {
      const held = this.#spend.hold(this)
      if (!(held instanceof Promise)) return this.#held(held)
      held.then((late) => this.#held(late)).catch((bug: unknown) => this.#threw(bug))
    } catch (bug) {
      this.#threw(bug)
    }
  }

  #held(held: Outcome<Hold>): void {
    if (!held.ok) {
      const refused = this.#paid.refused?.(held.failure) ?? held.failure
      return this.#end({ ok: false, failure: refused })
    }
    this.#hold = held.value
    const isWritten = held.value.written(this)
    if (isWritten !== null) this.written(isWritten)
  }

  written(isWritten: boolean): void {
    const hold = this.#hold
    this.#call.notes.holdMs = performance.now() - this.#begunAt
    if (!isWritten || hold === null) return this.#end(fail('store_unavailable'))
    try {
      // A client that left during the write of the reservation gets no call and pays nothing. C24.
      if (this.#call.hasEnded) return this.#ended({ ok: false, failure: endedBy(this.#call.signal) }, hold)
      this.#paid.run(hold).then(
        (result) => this.#ended(result, hold),
        (bug: unknown) => this.#threw(bug),
      )
    } catch (bug) {
      this.#threw(bug)
    }
  }

  #ended(result: Outcome<R>, hold: Hold): void {
    if (!result.ok) {
      hold.release()
      return this.#end(result)
    }
    try {
      if (this.#admitted !== null) this.#usedTokens = this.#paid.usedTokens(result.value)
      this.#end(this.#paid.ended(result.value, hold))
    } catch (bug) {
      this.#threw(bug)
    }
  }

  #end(outcome: Outcome<Success>): void {
    this.#leave()
    this.#resolve(outcome)
  }

  /** An error keeps neither the money reserved nor the place taken; a settled hold stays settled. */
  #threw(bug: unknown): void {
    this.#hold?.release()
    this.#leave()
    this.#reject(bug)
  }

  #leave(): void {
    const admitted = this.#admitted
    this.#admitted = null
    admitted?.end(this.#usedTokens)
  }
}

/** The figures of a call that has a result: its cost, and what only the log is told. */
export interface Spent extends CallCost {
  readonly tokens: number
  /** Whole milliseconds of the attempt that succeeded. */
  readonly milliseconds: number
  /** The endpoint has neither a price nor `free`. */
  readonly isUnpriced: boolean
  readonly attempts: number
  /** Milliseconds of the attempt that succeeded, not rounded. */
  readonly upstreamMs: number
}

/** The charged part of a cost. */
export interface Charge {
  readonly nano: number
  /** True when the provider's figures exceed the bound. */
  readonly isCapped: boolean
}

/** Pays, and adds the known figures to the notes for the log and the metrics. No step of this can fail. */
export function settle(
  { notes }: Pick<Call, 'notes'>,
  spent: Spent,
  { bound, hold }: { readonly bound: CostBound; readonly hold: Hold },
): Charge {
  const paidMs = hold.settle(spent)
  const nano = chargedNano(spent, bound)
  notes.provider = spent.provider
  if (spent.model !== undefined) notes.model = spent.model
  notes.promptTokens = spent.tokens
  notes.costUsd = usdOfNano(nano)
  if (paidMs !== null) notes.paidMs = paidMs
  if (spent.text !== undefined) {
    notes.outputTokens = spent.text.outputTokens
    notes.cachedTokens = spent.text.cachedTokens
  }
  if (spent.isByok) notes.isByok = true
  if (spent.isEstimated) notes.isEstimated = true
  if (spent.isUnpriced) notes.isUnpriced = true
  notes.attempts = spent.attempts
  notes.upstreamMs = spent.upstreamMs
  return { nano, isCapped: nano < spent.costNano }
}
