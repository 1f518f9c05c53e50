import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises'
import {
  WEBHOOK_ATTEMPT_MS_MAX,
  WEBHOOK_CALLS_MAX,
  WEBHOOK_HOST_CALLS_MAX,
  WEBHOOK_WORKSPACE_CALLS_MAX,
} from '../../../schemas/webhooks/webhook-limits.ts'
import { nextTryIn, WEBHOOK_DELAYS_MS } from '../../../schemas/webhooks/webhook-schedule.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Log } from '../../ports/observe.ts'
import type { VideoViews } from '../../ports/videos/videos.ts'
import type {
  ClaimedDelivery,
  Deliveries,
  DeliveryResult,
  WebhookMeters,
  WebhookSecrets,
} from '../../ports/webhooks/webhooks.ts'
import { every, type Repetition } from '../../structures/ticks.ts'
import { attemptDelivery } from './attempt.ts'

/** Milliseconds of a receiver's `Retry-After` that delay the next attempt. Decision: a day. */
export const WEBHOOK_RETRY_AFTER_MS_MAX = 86_400_000
/** Milliseconds for which a runner leases a delivery: the time for an attempt and for booking its result. Decision. */
export const WEBHOOK_LEASE_MS = 45_000
/** Milliseconds between two checks for due deliveries without a wake-up. Decision. */
export const WEBHOOK_SWEEP_MS = 1_000

export interface WebhookSenderOptions {
  readonly deliveries: Deliveries
  readonly secrets: Pick<WebhookSecrets, 'current'>
  readonly egress: Pick<Egress, 'vetted'>
  readonly views: Pick<VideoViews, 'onWake'>
  readonly log: Log
  readonly meters: WebhookMeters
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
  readonly timing?: Partial<WebhookTiming>
}

export interface WebhookSender {
  /**
   * Claims no more deliveries. Resolves when running attempts have ended and are written, at the latest after
   * the time limit of one attempt.
   */
  close(): Promise<void>
}

/** Milliseconds between two claims, so that many wake-ups and ends of attempts share one claim. Decision. */
const CLAIM_GAP_MS = 20

/**
 * Delivers webhooks that are due: claims and sends them, and writes each result right after the response, so
 * that only a crash between the two repeats a delivery.
 */
export function openWebhookSender(options: WebhookSenderOptions): WebhookSender {
  return new Sender(options)
}

class Sender implements WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #timing: WebhookTiming
  readonly #busy = { hosts: new Map<string, number>(), workspaces: new Map<string, number>() }
  readonly #underWay = new Set<Promise<void>>()
  readonly #stopListening: () => void
  readonly #sweeps: Repetition
  #next: NodeJS.Timeout | null = null
  #claiming: Promise<void> | null = null
  #isClaimDue = false
  #isClosing = false
  /** True when the store did not answer the last claim; an outage is logged once. */
  #isStoreAway = false

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#timing = { ...WEBHOOK_TIMING, ...options.timing }
    this.#stopListening = options.views.onWake(({ kind }) => kind === 'webhooks' && this.#soon())
    this.#sweeps = every(this.#timing.sweepMs, () => this.#now())
    this.#soon()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#stopListening()
    this.#sweeps.stop()
    if (this.#next !== null) clearTimeout(this.#next)
    await this.#claiming
    await Promise.all(this.#underWay)
  }

  #soon(): void {
    this.#isClaimDue = true
    if (this.#isClosing || this.#claiming !== null) return
    this.#next ??= setTimeout(() => {
      this.#next = null
      this.#now()
    }, CLAIM_GAP_MS)
  }

  #now(): void {
    this.#isClaimDue = true
    if (this.#isClosing || this.#claiming !== null || this.#next !== null) return
    this.#claiming = this.#claim().finally(() => {
      this.#claiming = null
      // Another claim was requested meanwhile.
      if (this.#isClaimDue && this.#room > 0) this.#soon()
    })
  }

  get #room(): number {
    return WEBHOOK_CALLS_MAX - this.#underWay.size
  }

  async #claim(): Promise<void> {
    const countMax = this.#room
    if (countMax <= 0) return
    const { deliveries, log } = this.#options
    const { leaseMs, attemptMs, pauseMs } = this.#timing
    const claimedAt = performance.now()
    this.#isClaimDue = false
    try {
      const claims = await deliveries.claim({
        countMax,
        perHostMax: WEBHOOK_HOST_CALLS_MAX,
        perWorkspaceMax: WEBHOOK_WORKSPACE_CALLS_MAX,
        busy: this.#busy,
        leaseMs,
      })
      this.#isStoreAway = false
      // If the process stalled meanwhile, it has lost the claims or would lose them before the results are
      // written.
      const beginsBy = claimedAt + leaseMs - attemptMs - pauseMs
      await this.#beginAll(claims, beginsBy)
      if (claims.length > 0) this.#isClaimDue = true
    } catch (cause) {
      if (!this.#isStoreAway) log.warn('webhook_claim_failed', { cause })
      this.#isStoreAway = true
    }
  }

  /**
   * Starts one delivery in each event-loop tick: results that have arrived are written before more is sent.
   * After a crash, deliveries that were sent but not written are repeated, and a hundred new connections at
   * once would delay all responses.
   */
  async #beginAll(claims: readonly ClaimedDelivery[], beginsBy: number): Promise<void> {
    for (const [nth, claim] of claims.entries()) {
      if (this.#isClosing || performance.now() > beginsBy)
        return this.#options.deliveries.release(claims.slice(nth), 0)
      this.#begin(claim, beginsBy)
      await nextTick()
    }
  }

  #begin(claim: ClaimedDelivery, beginsBy: number): void {
    const { hosts, workspaces } = this.#busy
    count(hosts, claim.host, 1)
    count(workspaces, claim.workspaceId, 1)
    const running = this.#deliver(claim, beginsBy)
      .catch((cause: unknown) => this.#options.log.error('webhook_crashed', { deliveryId: claim.id, cause }))
      .finally(() => {
        this.#underWay.delete(running)
        count(hosts, claim.host, -1)
        count(workspaces, claim.workspaceId, -1)
        this.#soon()
      })
    this.#underWay.add(running)
  }

  async #deliver(claim: ClaimedDelivery, beginsBy: number): Promise<void> {
    const { log } = this.#options
    const { attemptMs, pauseMs } = this.#timing
    const { result, failure, rest } = await attemptDelivery(claim, { ...this.#options, attemptMs, beginsBy })
    if (failure !== null)
      log.warn('webhook_postponed', { ...factsOf(claim), failure: failure.name, cause: failure.cause })
    const booked =
      result === null
        ? this.#persist(claim, async () => (await this.#options.deliveries.release([claim], pauseMs), true))
        : this.#book(claim, result)
    await Promise.all([booked, rest])
  }

  async #book(claim: ClaimedDelivery, result: DeliveryResult): Promise<void> {
    const { deliveries, log, meters, random } = this.#options
    const { delaysMs, retryAfterMsMax } = this.#timing
    const isRetried = result.kind === 'failed' && result.reason !== 'url_disabled'
    const failed = { tries: claim.tries + 1, retryAfterMs: isRetried ? result.retryAfterMs : null }
    const dueInMs = isRetried ? nextTryIn(failed, { delaysMs, retryAfterMsMax, random }) : null
    if (!(await this.#persist(claim, () => deliveries.book(claim, result, dueInMs)))) return
    const facts = { ...factsOf(claim), status: result.status }
    if (result.kind === 'delivered') {
      meters.attempt('delivered')
      return log.debug('webhook_delivered', facts)
    }
    const reason = result.kind === 'gone' ? 'gone' : result.reason
    meters.attempt(reason)
    if (dueInMs === null) log.warn('webhook_dead', { ...facts, reason })
    else log.info('webhook_failed', { ...facts, reason, dueInMs })
  }

  /**
   * Repeats a write that must not be lost while the delivery still belongs to this runner, since a runner that
   * takes over the delivery would send it again.
   * @returns false when the write did not succeed
   */
  async #persist(claim: ClaimedDelivery, write: () => Promise<boolean>): Promise<boolean> {
    const { leaseMs, pauseMs } = this.#timing
    for (const endsAt = performance.now() + leaseMs; ;) {
      try {
        return await write()
      } catch (cause) {
        if (performance.now() > endsAt || this.#isClosing) {
          this.#options.log.warn('webhook_unbooked', { ...factsOf(claim), cause })
          return false
        }
        await wait(pauseMs)
      }
    }
  }
}

/** The fields of a delivery that may be logged: the URL is the caller's secret. */
function factsOf({
  id,
  jobId,
  workspaceId,
  host,
  tries,
}: ClaimedDelivery): Readonly<Record<string, unknown>> {
  return { deliveryId: id, jobId, workspaceId, host, tries: tries + 1 }
}

function count(counts: Map<string, number>, of: string, by: 1 | -1): void {
  const left = (counts.get(of) ?? 0) + by
  if (left === 0) counts.delete(of)
  else counts.set(of, left)
}

/** Durations of webhooks, in milliseconds. */
export interface WebhookTiming {
  readonly attemptMs: number
  readonly leaseMs: number
  readonly sweepMs: number
  readonly delaysMs: readonly number[]
  readonly retryAfterMsMax: number
  readonly pauseMs: number
}

/** Milliseconds that a delivery is postponed when it could not be sent or written for a reason on Sluice's side. Decision. */
const PAUSE_MS = 1_000

export const WEBHOOK_TIMING: WebhookTiming = {
  attemptMs: WEBHOOK_ATTEMPT_MS_MAX,
  leaseMs: WEBHOOK_LEASE_MS,
  sweepMs: WEBHOOK_SWEEP_MS,
  delaysMs: WEBHOOK_DELAYS_MS,
  retryAfterMsMax: WEBHOOK_RETRY_AFTER_MS_MAX,
  pauseMs: PAUSE_MS,
}
