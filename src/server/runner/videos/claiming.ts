import {
  VIDEO_CLAIMED_AT_ONCE,
  VIDEO_HELD_MAX,
  VIDEO_LEASE_MARGIN_MS,
  VIDEO_LEASE_MS,
  VIDEO_SWEEP_MS,
  VIDEO_UNKNOWN_LOOK_MS,
} from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo } from '../../ports/videos/video-work.ts'
import type { EngineDeps } from './engine-deps.ts'
import type { Lease } from './held-job.ts'
import type { Lane } from './lane.ts'

export interface ClaimingOptions {
  readonly deps: EngineDeps
  readonly lanes: ReadonlyMap<string, Lane>
  readonly take: (claims: readonly ClaimedVideo[], lease: Lease) => void
}

/** Milliseconds from a wake-up to the claim that follows it: jobs that are created together are claimed together. */
const GATHER_MS = 25
/** Share of the interval between sweeps by which a sweep may start earlier. */
const EARLY_SHARE = 0.2

/** Claims due jobs after a wake-up, and in a periodic sweep. */
export class Claiming {
  readonly #options: ClaimingOptions
  /** Providers with a wake-up since the last claim. */
  #woken = new Set<string>()
  #isStopped = false
  #isAway = false
  #sweptAt = -Infinity
  #looked = -Infinity
  #under: Promise<void> | null = null
  #disarm: () => void = () => undefined

  constructor(options: ClaimingOptions) {
    this.#options = options
    this.#arm(0)
  }

  wake(provider: string): void {
    if (this.#isStopped || !this.#options.lanes.has(provider)) return
    const isFirst = this.#woken.size === 0
    this.#woken.add(provider)
    if (isFirst && this.#under === null) this.#arm(GATHER_MS)
  }

  /** Jobs that are being claimed now are still passed on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#disarm()
    await this.#under
  }

  #arm(ms: number): void {
    this.#disarm()
    this.#disarm = this.#options.deps.clock.after(ms, () => this.#begin())
  }

  #begin(): void {
    this.#under = this.#round().finally(() => {
      this.#under = null
      if (this.#isStopped) return
      if (this.#woken.size > 0) return this.#arm(GATHER_MS)
      this.#disarm()
      this.#disarm = this.#options.deps.clock.atNext(VIDEO_SWEEP_MS, () => this.#begin())
    })
  }

  async #round(): Promise<void> {
    const {
      deps: { clock, log },
    } = this.#options
    const isSweep = clock.now() - this.#sweptAt >= VIDEO_SWEEP_MS * (1 - EARLY_SHARE)
    if (isSweep) this.#sweptAt = clock.now()
    const woken = this.#woken
    this.#woken = new Set()
    try {
      await this.#claim(this.#rooms(isSweep ? null : woken))
      if (clock.now() - this.#looked >= VIDEO_UNKNOWN_LOOK_MS) await this.#claimUnknown()
      if (this.#isAway) log.info('video.claims_again')
      this.#isAway = false
    } catch (cause) {
      if (!this.#isAway) log.warn('video.claim_failed', { cause })
      this.#isAway = true
    }
  }

  #rooms(only: ReadonlySet<string> | null): ReadonlyMap<string, number> {
    const rooms = new Map<string, number>()
    for (const [slug, lane] of this.#options.lanes) {
      const room = lane.isFull ? 0 : Math.min(VIDEO_CLAIMED_AT_ONCE, VIDEO_HELD_MAX - lane.held)
      if (room > 0 && only?.has(slug) !== false) rooms.set(slug, room)
    }
    return rooms
  }

  async #claim(rooms: ReadonlyMap<string, number>): Promise<void> {
    if (rooms.size === 0 || this.#isStopped) return
    const {
      deps: { work, clock, meters, log },
      take,
    } = this.#options
    const requestedAt = clock.now()
    const claims = await work.claim(rooms, VIDEO_LEASE_MS)
    const answeredAt = clock.now()
    const counts = new Map<string, number>()
    for (const {
      target: { provider },
    } of claims)
      counts.set(provider, (counts.get(provider) ?? 0) + 1)
    for (const [provider, count] of counts) {
      meters.claimed(provider, count)
      // The provider may have more due jobs.
      if (count >= (rooms.get(provider) ?? Infinity) && this.#options.lanes.has(provider))
        this.#woken.add(provider)
    }
    if (claims.length > 0) log.debug('video.claimed', { jobs: claims.length })
    // The answer came late and the lease is too short: the jobs are claimed again.
    if (answeredAt - requestedAt < VIDEO_LEASE_MS - VIDEO_LEASE_MARGIN_MS)
      take(claims, { requestedAt, leaseMs: VIDEO_LEASE_MS, answeredAt })
    else meters.lost(claims.length)
  }

  /** Claims jobs of providers that this catalogue does not have, since a runner must end them. */
  async #claimUnknown(): Promise<void> {
    const {
      deps: { work, clock },
      lanes,
    } = this.#options
    const due = await work.due()
    this.#looked = clock.now()
    const unknown = [...due].filter(([slug]) => !lanes.has(slug))
    await this.#claim(new Map(unknown.map(([slug, count]) => [slug, Math.min(VIDEO_CLAIMED_AT_ONCE, count)])))
  }
}
