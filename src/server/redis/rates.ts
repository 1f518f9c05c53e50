import type { RateInput, RateAuthority, RateGrant } from '../ports/rates.ts'
import type { State } from './open.ts'
import { openScripts, scriptOf, type RunScript } from './scripts.ts'

/**
 * One GCRA step for a block of tokens. KEYS: the key's state; ARGV: microseconds per token, microseconds of
 * burst, tokens wanted, tokens given back. The state is the theoretical arrival time (TAT) in whole
 * microseconds.
 * - The step expresses every time relative to now: epochs in microseconds leave no digits of a double for
 * fractions.
 * - `%.0f`: Lua's own conversion keeps 14 digits, a TAT has 16.
 * - A TAT beyond a full window is the result of a clock that jumped or a limit that changed. The step moves it
 * back into the window; otherwise the key would be refused until the clock had caught up.
 * - A refusal charges nothing. The key expires when its window is empty, since a missing state has the same
 * meaning.
 */
const STEP = scriptOf(`
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
`)

const MINUTE_US = 60_000_000

/** Lends rate tokens from Redis. Requests of one microtask are sent in one write. */
export function openRateAuthority(state: State, run: RunScript = openScripts(state)): RateAuthority {
  return {
    get isReachable() {
      return state.isReachable
    },
    get lastAnswerAt() {
      return state.lastAnswerAt
    },
    async lend(ask) {
      const [key, ...args] = argsOf(ask)
      const grant = grantOf(await run({ script: STEP, keys: [key], args, waitMsMax: ask.waitMsMax }))
      if (grant === null) throw new Error('Redis returned an unexpected answer')
      return grant
    },
  }
}

/** The braces make a Redis Cluster keep all state of one key on one node. */
function argsOf({ key, limitRpm, burst, want, giveBack }: RateInput): [string, ...number[]] {
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
