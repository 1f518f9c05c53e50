/**
 * Limiters behind one check: may this key call now? The product's limiter as a front has it, and common ones
 * of npm.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createAdmission } from '../../src/server/limits/admission.ts'
import { openState } from '../../src/server/redis/open.ts'
import { openRateAuthority } from '../../src/server/redis/rates.ts'
import { keyOf } from '../../test/support/wire/rate-simulation.ts'

export const LIMITERS = ['sluice', 'rate-limiter-flexible-redis', 'rate-limiter-flexible', 'direct'] as const
/** `direct` is the server behind all of them, without a limiter. */
export type LimiterName = (typeof LIMITERS)[number]

export interface LimiterDeps {
  readonly limitRpm: number
  /** Null for limiters that need none. */
  readonly socketPath: string | null
  /** Folder with the installed peers. */
  readonly packages: string
  readonly reachableMsMax?: number
}

/** @param hash hash of the key */
export type Limiter = (hash: string) => boolean | Promise<boolean>

/** Milliseconds until Redis must have answered. */
const REACHABLE_MS_MAX = 10_000
/** A log that drops every event. */
const LOG = { debug() {}, info() {}, warn() {}, error() {} }

export async function openLimiter(name: LimiterName, deps: LimiterDeps): Promise<Limiter> {
  switch (name) {
    case 'sluice':
      return ours(deps)
    case 'rate-limiter-flexible-redis':
      return flexible(deps, 'RateLimiterRedis')
    case 'rate-limiter-flexible':
      return flexible(deps, 'RateLimiterMemory')
    case 'direct':
      return () => true
    default:
      return name satisfies never
  }
}

export function needsRedis(name: LimiterName): boolean {
  return name === 'sluice' || name === 'rate-limiter-flexible-redis'
}

async function ours({
  limitRpm,
  socketPath,
  reachableMsMax = REACHABLE_MS_MAX,
}: LimiterDeps): Promise<Limiter> {
  const state = openState({ url: null, socketPath: socketPath ?? '', log: LOG })
  await state.whenReachable(reachableMsMax)
  if (!state.isReachable) {
    await state.close()
    throw new Error('Redis does not answer')
  }
  const admission = createAdmission({
    authority: openRateAuthority(state),
    fronts: { liveFronts: 1 },
    now: () => performance.now(),
  })
  return (hash) => {
    const admitted = admission.admit(keyOf(limitRpm, hash))
    return admitted instanceof Promise
      ? admitted.then(({ failure }) => failure === null)
      : admitted.failure === null
  }
}

/** The used part of the package, which is no dependency of Sluice. */
type Flexible = Readonly<
  Record<
    'RateLimiterRedis' | 'RateLimiterMemory',
    new (options: object) => { consume(key: string): Promise<unknown> }
  >
>

/**
 * A minute's points in a window of a minute, as the package's guide recommends; a key over its limit is
 * refused from memory.
 */
function flexible({ limitRpm, socketPath, packages }: LimiterDeps, kind: keyof Flexible): Limiter {
  const limiters = createRequire(join(packages, 'package.json'))('rate-limiter-flexible') as Flexible
  const window = { points: limitRpm, duration: 60 }
  const limiter =
    kind === 'RateLimiterMemory'
      ? new limiters.RateLimiterMemory(window)
      : new limiters.RateLimiterRedis({
          ...window,
          inMemoryBlockOnConsumed: limitRpm + 1,
          storeClient: new Redis(socketPath ?? '', { enableAutoPipelining: true }),
        })
  return (hash) =>
    limiter.consume(hash).then(
      () => true,
      (refusal: unknown) => {
        // The promise rejects with an Error when the check failed, and with the count when the answer is no.
        if (refusal instanceof Error) throw refusal
        return false
      },
    )
}
