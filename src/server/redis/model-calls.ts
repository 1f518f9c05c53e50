import { TOKENS_OWED_MS_MAX } from '../../schemas/limits/rate-limits.ts'
import type { CallAuthority, CallGrant, CallOwner, LimitedCall, TokensLeft } from '../ports/model-calls.ts'
import type { State } from './open.ts'
import { openScripts, scriptOf, type RunScript } from './scripts.ts'

/**
 * Milliseconds after which the place of a call becomes free unless its front renews it; a front that hangs is
 * killed earlier. Decision.
 */
export const CALL_LEASE_MS = 15_000

/**
 * The places of an owner are the members of a sorted set, each with the time at which its lease ends: places
 * of a front that died become free by themselves. The tokens of an owner are the state of a GCRA, as for a
 * rate limit.
 * - All times are by the clock of Redis. Members and states later than any that could have been written are
 * the result of a clock that was set back; they are moved back into their range.
 * - KEYS: sets of places, then states of tokens. ARGV: id of the call, microseconds of the lease, number of
 * sets, tokens; then the maximum of each set; then for each state the microseconds per token, of the burst,
 * and of the tokens that may be owed in addition.
 */
const COMMON = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local id, lease, sets, tokens = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local states = #KEYS - sets
local function whole(number) return string.format('%.0f', number) end
local function termsOf(i)
  local at = 4 + sets + 3 * (i - 1)
  return tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
end
local function levelOf(i, most)
  local level = (tonumber(redis.call('GET', KEYS[sets + i]) or '') or now) - now
  return math.min(math.max(level, 0), most)
end
local function keep(i, level)
  if level <= 0 then redis.call('DEL', KEYS[sets + i]) else
    redis.call('SET', KEYS[sets + i], whole(now + level), 'PX', whole(math.ceil(level / 1000)))
  end
end
`

/** Returns 0 and the rest of each state, or the number of the key that refuses, the wait and the rest. */
const TAKE = scriptOf(`${COMMON}
for i = 1, sets do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', whole(now))
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[4 + i]) then
    for _, late in ipairs(redis.call('ZRANGEBYSCORE', KEYS[i], '(' .. whole(now + lease), '+inf')) do
      redis.call('ZADD', KEYS[i], whole(now + lease), late)
    end
    return { i }
  end
end
local levels = {}
for i = 1, states do
  local interval, burst, owed = termsOf(i)
  local level = levelOf(i, burst + owed)
  local over = level + tokens * interval - burst
  if over > 0.5 then
    local free = math.max(0, math.floor((burst - level) / interval + 0.000001))
    return { sets + i, math.max(1, math.ceil(over / 1000)), free, math.ceil(level / 1000) }
  end
  levels[i] = level + tokens * interval
end
for i = 1, sets do
  redis.call('ZADD', KEYS[i], whole(now + lease), id)
  redis.call('PEXPIRE', KEYS[i], whole(lease / 1000))
end
local answer = { 0 }
for i = 1, states do
  local interval, burst = termsOf(i)
  keep(i, levels[i])
  answer[2 * i] = math.max(0, math.floor((burst - levels[i]) / interval + 0.000001))
  answer[2 * i + 1] = math.ceil(levels[i] / 1000)
end
return answer
`)

const GIVE_BACK = scriptOf(`${COMMON}
for i = 1, sets do redis.call('ZREM', KEYS[i], id) end
for i = 1, states do
  local interval, burst, owed = termsOf(i)
  keep(i, math.min(levelOf(i, burst + owed) + tokens * interval, burst + owed))
end
return 0
`)

/** KEYS: a set of places; ARGV: microseconds of the lease, ids of calls. */
const RENEW = scriptOf(`
local t = redis.call('TIME')
local lease = tonumber(ARGV[1])
local ends = string.format('%.0f', t[1] * 1000000 + t[2] + lease)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', lease / 1000))
return 0
`)

/** Microseconds in a minute: the burst of a limit of tokens. */
const MINUTE_US = 60_000_000
const LEASE_US = CALL_LEASE_MS * 1_000

/** Milliseconds allowed for commands for which no caller waits. */
const UNHURRIED_MS = 2_000

/** Concurrent calls and tokens in Redis, for all fronts. Each call runs one script. */
export function openCallAuthority(state: State, run: RunScript = openScripts(state)): CallAuthority {
  const forget = (): undefined => undefined
  return {
    get isReachable() {
      return state.isReachable
    },
    onReturn: (listener) => state.onChange((isReachable) => void (isReachable && listener())),
    async take(call, want, waitMsMax) {
      const grant = grantOf(await run({ script: TAKE, ...inputOf(call, want), waitMsMax }), call)
      if (grant === null) throw new Error('Redis returned an unexpected answer')
      return grant
    },
    giveBack(call, tokens) {
      run({ script: GIVE_BACK, ...inputOf(call, tokens), waitMsMax: UNHURRIED_MS }).catch(forget)
    },
    renew(owner, ids) {
      run({
        script: RENEW,
        keys: [placesOf(owner)],
        args: [LEASE_US, ...ids],
        waitMsMax: UNHURRIED_MS,
      }).catch(forget)
    },
  }
}

function placesOf(owner: CallOwner): string {
  return `sluice:calls:${owner}`
}

function inputOf({ id, places, tokens }: LimitedCall, count: number) {
  const terms = tokens.flatMap(({ perMinute }) => [
    MINUTE_US / perMinute,
    MINUTE_US,
    TOKENS_OWED_MS_MAX * 1_000,
  ])
  return {
    keys: [
      ...places.map(({ owner }) => placesOf(owner)),
      ...tokens.map(({ owner }) => `sluice:tokens:${owner}`),
    ],
    args: [id, LEASE_US, places.length, count, ...places.map(({ max }) => max), ...terms],
  }
}

function grantOf(answer: unknown, { places, tokens }: LimitedCall): CallGrant | null {
  if (!Array.isArray(answer)) return null
  const [key = -1, ...figures] = answer.map(Number)
  if (key < 0) return null
  if (key === 0) return { isGranted: true, left: tokens.map((_, i) => leftOf(figures.slice(2 * i))) }
  const place = places[key - 1]
  if (place !== undefined) return { isGranted: false, by: place }
  const token = tokens[key - 1 - places.length]
  const [retryAfterMs = 1, ...left] = figures
  return token === undefined ? null : { isGranted: false, by: token, left: leftOf(left), retryAfterMs }
}

function leftOf([remaining = 0, resetAfterMs = 0]: readonly number[]): TokensLeft {
  return { remaining, resetAfterMs }
}
