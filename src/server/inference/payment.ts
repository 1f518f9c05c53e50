import { fail, type Failure, type Outcome } from '../../schemas/failures.ts'
import { chargedNano, usdOfNano } from '../../schemas/money/costs.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import type { AdmittedCall, ModelReply, PayingCall, PaymentPorts } from '../ports/model-calls.ts'
import type {
  CallCost,
  CallFacts,
  CallProgress,
  CostBound,
  Hold,
  HoldInput,
  WriteWaiter,
} from '../ports/money/money.ts'
import { isCallLimited } from '../../schemas/limits/model-calls.ts'

/**
 * A call that is paid for: reserves the most that it may cost, makes the call, and pays its cost, which is
 * nothing without a result. Before that the call takes a place and tokens if the key or its workspace has such
 * limits. Each kind of call extends this class. A call has one promise and one object with methods, since an
 * object with functions for each step would cost every call a kilobyte of garbage.
 */
export abstract class Payment<R, C extends PayingCall> implements HoldInput, CallFacts, WriteWaiter {
  abstract readonly operation: string
  /** Id of the model; the first one if there are several. */
  abstract readonly model: string
  abstract readonly bound: CostBound
  readonly call: C
  readonly key: PayingCall['key']
  readonly deadlineAt: number
  readonly requestId: string
  readonly #ports: PaymentPorts
  #resolve: (outcome: Outcome<ModelReply>) => void = notBegun
  #reject: (bug: unknown) => void = notBegun
  /** Null: the key has no limits for calls, or the call has not been admitted. */
  #admitted: AdmittedCall | null = null
  /** Null: no money is reserved yet. */
  #hold: Hold | null = null
  #begunAt = 0
  #usedTokens = 0

  constructor(call: C, ports: PaymentPorts) {
    this.call = call
    this.key = call.key
    this.deadlineAt = call.deadlineAt
    this.requestId = call.requestId
    this.#ports = ports
  }

  abstract estimatedTokens(): number

  protected abstract usedTokens(result: R): number

  /** Makes the call. A failure costs nothing. */
  protected abstract run(): Promise<Outcome<R>>

  /** Settles or releases the hold, and answers. */
  protected abstract ended(result: R): Outcome<ModelReply>

  /** Adds facts that only this kind of call knows to a refusal of the reservation. */
  protected refused(failure: Failure): Failure {
    return failure
  }

  /** Failures: those of `Spend.hold`, of `ModelCalls.admit` and of the call, store_unavailable. */
  pay(): Promise<Outcome<ModelReply>> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#begin()
    })
  }

  get facts(): CallFacts {
    return this
  }

  signal(): AbortSignal {
    return this.call.signal
  }

  #begin(): void {
    if (!isCallLimited(this.key.callLimits)) return this.#reserve()
    this.#ports.modelCalls
      .admit({ key: this.key, estimate: () => this.estimatedTokens() })
      .then((admitted) => this.#admit(admitted))
      .catch((bug: unknown) => this.#threw(bug))
  }

  #admit(admitted: AdmittedCall): void {
    const { failure, headers } = admitted
    if (headers !== null) this.call.limited(headers)
    if (failure !== null) return this.#resolve({ ok: false, failure })
    this.#admitted = admitted
    this.#reserve()
  }

  #reserve(): void {
    this.#begunAt = performance.now()
    try {
      const held = this.#ports.spend.hold(this)
      if (!(held instanceof Promise)) return this.#held(held)
      held.then((late) => this.#held(late)).catch((bug: unknown) => this.#threw(bug))
    } catch (bug) {
      this.#threw(bug)
    }
  }

  #held(held: Outcome<Hold>): void {
    if (!held.ok) return this.#end({ ok: false, failure: this.refused(held.failure) })
    this.#hold = held.value
    const isWritten = held.value.written(this)
    if (isWritten !== null) this.written(isWritten)
  }

  written(isWritten: boolean): void {
    this.call.notes.holdMs = performance.now() - this.#begunAt
    if (!isWritten || this.#hold === null) return this.#end(fail('store_unavailable'))
    try {
      // A client that disconnected while the reservation was written gets no call and pays nothing.
      if (this.call.hasEnded) return this.#ended({ ok: false, failure: endedBy(this.call.signal) })
      this.run().then(
        (result) => this.#ended(result),
        (bug: unknown) => this.#threw(bug),
      )
    } catch (bug) {
      this.#threw(bug)
    }
  }

  #ended(result: Outcome<R>): void {
    if (!result.ok) {
      this.releaseHold()
      return this.#end(result)
    }
    try {
      if (this.#admitted !== null) this.#usedTokens = this.usedTokens(result.value)
      this.#end(this.ended(result.value))
    } catch (bug) {
      this.#threw(bug)
    }
  }

  protected progress(progress: CallProgress): void {
    this.#hold?.progress(progress)
  }

  /** Returns the reserved money: the call has no result to pay for. */
  protected releaseHold(): void {
    this.#hold?.release()
  }

  /** Pays, and adds the known figures to the notes for the log and the metrics. No step can fail after the hold. */
  protected settleHold(spent: Spent): Charge {
    const { notes } = this.call
    if (this.#hold === null) throw new Error('the call has no hold')
    const paidMs = this.#hold.settle(spent)
    const nano = chargedNano(spent, this.bound)
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

  #end(outcome: Outcome<ModelReply>): void {
    this.#leave()
    this.#resolve(outcome)
  }

  /** After an error neither the money stays reserved nor the place taken; a settled hold stays settled. */
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

/** The figures of a call with a result: its cost, and figures only for the log. */
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

export interface Charge {
  readonly nano: number
  /** True when the provider's figures exceed the bound. */
  readonly isCapped: boolean
}

function notBegun(): never {
  throw new Error('the call ended before its payment began')
}
