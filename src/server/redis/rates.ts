import { createHash } from 'node:crypto'
import { burstOf } from '../../schemas/values/rate-burst.ts'
import type { RateInput, RateAuthority, RateGrant } from '../ports/rates.ts'
import type { State } from './open.ts'

/**
 * One GCRA step for a block of tokens. KEYS: the key's state; ARGV: microseconds per token, microseconds of
 * burst, tokens wanted, tokens given back. The state is the theoretical arrival time (TAT) in whole
 * microseconds.
 * - The step counts every instant as a distance from now: epochs in microseconds leave a double no digits for
 *   fractions.
 * - `%.0f`: Lua's own conversion keeps 14 digits, a TAT has 16.
 * - A TAT beyond a full window comes from a clock that jumped or a limit that changed. The step brings it
 *   back into the window, else the key would stay refused until the clock has caught up.
 * - A refusal charges nothing. The key expires when its window is empty, since no state means the same.
 */
const STEP = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local want, back = tonumber(ARGV[3]), tonumber(ARGV[4])
local before = (tonumber(redis.call('GET', KEYS[1]) or '') or now) - now
local level = math.min(math.max(before, 0) - back * interval, tolerance)
if level < 0 then level = 0 end
local free = math.floor((tolerance - level) / interval + 0.000001)
local granted = math.max(0, math.min(want, free))
level = level + granted * interval
if level <= 0 then
  redis.call('DEL', KEYS[1])
elseif level ~= before then
  redis.call('SET', KEYS[1], string.format('%.0f', now + level), 'PX', string.format('%.0f', math.ceil(level / 1000)))
end
local retry = 0
if granted < want then retry = math.max(1, math.ceil((level + interval - tolerance + 1) / 1000)) end
return { granted, math.max(0, free - granted), retry, math.ceil(level / 1000) }
`
const STEP_SHA = createHash('sha1').update(STEP).digest('hex')

/** Microseconds in a minute. */
const MINUTE_US = 60_000_000

interface Waiting {
  readonly ask: RateInput
  resolve(grant: RateGrant): void
  reject(cause: unknown): void
}

/** Lends from Redis. Requests of one microtask leave in one write. Design §6, contract C11. */
export function openRateAuthority(state: State): RateAuthority {
  let batch: Waiting[] = []
  const flush = (): void => {
    const sent = batch
    batch = []
    void send(state, sent)
  }
  return {
    get isReachable() {
      return state.isReachable
    },
    get lastAnswerAt() {
      return state.lastAnswerAt
    },
    lend(ask) {
      return new Promise((resolve, reject) => {
        batch.push({ ask, resolve, reject })
        if (batch.length === 1) queueMicrotask(flush)
      })
    },
  }
}

async function send(state: State, batch: readonly Waiting[]): Promise<void> {
  let isOver = false
  const cutOff = setTimeout(
    () => {
      // An event loop that was blocked reads the answer that lies in the socket before it calls Redis slow.
      setImmediate(() => {
        if (isOver) return
        state.trip()
        for (const { reject } of batch) reject(new Error('Redis did not answer in time'))
      })
    },
    Math.max(1, Math.min(...batch.map(({ ask }) => ask.waitMsMax))),
  )
  try {
    const unknown = settle(batch, await stepAll(state, batch))
    state.answered()
    if (unknown.length === 0) return
    // Redis was restarted or its scripts were flushed.
    await state.redis.script('LOAD', STEP)
    const cause = new Error('Redis keeps losing the script')
    for (const { reject } of settle(unknown, await stepAll(state, unknown))) reject(cause)
  } catch (cause) {
    for (const { reject } of batch) reject(cause)
  } finally {
    isOver = true
    clearTimeout(cutOff)
  }
}

type Answer = readonly [Error | null, unknown]

async function stepAll(state: State, batch: readonly Waiting[]): Promise<readonly Answer[]> {
  const pipeline = state.redis.pipeline()
  for (const { ask } of batch) pipeline.evalsha(STEP_SHA, 1, ...argsOf(ask))
  return (await pipeline.exec()) ?? []
}

/** Settles the requests that Redis answered. @returns those for which Redis did not know the script */
function settle(batch: readonly Waiting[], answers: readonly Answer[]): readonly Waiting[] {
  return batch.filter(({ resolve, reject }, i) => {
    const [error, answer] = answers[i] ?? [new Error('no answer'), null]
    if (error?.message.startsWith('NOSCRIPT') === true) return true
    const grant = error === null ? grantOf(answer) : null
    if (grant === null) reject(error ?? new Error('Redis answered with something else'))
    else resolve(grant)
    return false
  })
}

/** The braces make a Redis Cluster keep all state of one key on one node. */
function argsOf({
  key,
  limitRpm,
  burst = burstOf(limitRpm),
  want,
  giveBack,
}: RateInput): [string, ...number[]] {
  const interval = MINUTE_US / limitRpm
  return [`sluice:rate:{${key}}`, interval, interval * burst, want, giveBack]
}

function grantOf(answer: unknown): RateGrant | null {
  if (!Array.isArray(answer)) return null
  const [granted, remaining, retryAfterMs, resetAfterMs] = answer.map(Number)
  if (
    granted === undefined ||
    remaining === undefined ||
    retryAfterMs === undefined ||
    resetAfterMs === undefined
  )
    return null
  return { granted, remaining, retryAfterMs, resetAfterMs }
}
