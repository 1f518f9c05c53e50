import t from 'tap'
import {
  EndpointHealth,
  PROBES_MAX,
  REST_ALONE_MS_MAX,
  STRIKES_ALONE_MS,
  STRIKES_OF_FAILURE,
  STRIKES_OF_TIMEOUT,
} from '../../../../src/server/upstream/routing/targets.ts'

/** Strikes by two callers in turn. */
function strike(health: EndpointHealth, times: number, strikes = STRIKES_OF_FAILURE): void {
  for (let nth = 0; nth < times; nth++) health.strike(0, strikes, nth % 2 === 0 ? 'a' : 'b')
}

function opened(): EndpointHealth {
  const health = new EndpointHealth(() => 0)
  strike(health, 10)
  return health
}

t.test('the breaker opens at the tenth strike in a row, or at the fourth timeout', async (t) => {
  const health = new EndpointHealth(() => 0)
  strike(health, 9)
  t.equal(health.admit(0, 'a'), true)
  health.answered(5, 10)
  strike(health, 3, STRIKES_OF_TIMEOUT)
  t.equal(health.isOpen, false)
  health.strike(0, STRIKES_OF_TIMEOUT, 'b')
  t.equal(health.admit(999, 'a'), false)
})

t.test('a single caller opens the breaker only by strikes over a time without other answers', async (t) => {
  const health = new EndpointHealth(() => 0)
  for (let nth = 0; nth < 1_000; nth++) health.strike(nth % STRIKES_ALONE_MS, STRIKES_OF_TIMEOUT, 'hostile')
  t.equal(health.isOpen, false)
  health.answered(5, 10)
  for (let nth = 0; nth < 1_000; nth++) health.strike(STRIKES_ALONE_MS, STRIKES_OF_TIMEOUT, 'hostile')
  t.equal(health.isOpen, false)
  health.strike(2 * STRIKES_ALONE_MS, STRIKES_OF_FAILURE, 'hostile')
  t.equal(health.isOpen, true)
})

t.test('after the open time one probe per caller is sent, and a success closes the breaker', async (t) => {
  const health = opened()
  t.equal(health.restMs(400, 'a'), 600)
  t.equal(health.admit(1_000, 'a'), true)
  t.equal(health.admit(1_000, 'a'), false, 'a second call waits for the probe')
  for (let nth = 1; nth < PROBES_MAX; nth++) t.equal(health.admit(1_000, `other ${nth}`), true)
  t.equal(health.admit(1_000, 'late'), false)
  health.answered(5, 10)
  t.equal(health.admit(1_001, 'a'), true)
  t.equal(health.admit(1_001, 'a'), true)
})

t.test('a hostile probe that fails stops no other caller from probing', async (t) => {
  const health = opened()
  health.admit(1_000, 'hostile')
  health.strike(1_000, STRIKES_OF_FAILURE, 'hostile')
  t.equal(health.admit(1_001, 'hostile'), false)
  t.equal(health.restMs(1_001, 'hostile'), 1_999)
  t.equal(health.restMs(1_001, 'honest'), 0)
  t.equal(health.admit(1_001, 'honest'), true)
  health.answered(5, 10)
  t.equal(health.isOpen, false)
})

t.test('a round in which all probes failed makes all callers wait', async (t) => {
  const health = opened()
  for (let nth = 0; nth < PROBES_MAX; nth++) {
    t.equal(health.admit(1_000, String(nth)), true)
    health.strike(1_000, STRIKES_OF_FAILURE, String(nth))
  }
  t.equal(health.admit(2_999, 'late'), false)
  t.equal(health.restMs(2_000, 'late'), 1_000)
  t.equal(health.admit(3_000, 'late'), true)
})

t.test('a failed probe doubles the open time, up to thirty seconds', async (t) => {
  const health = opened()
  let now = 1_000
  for (const restMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    t.equal(health.admit(now, 'a'), true)
    health.strike(now, STRIKES_OF_FAILURE, 'a')
    t.equal(health.restMs(now, 'a'), restMs)
    now += restMs
  }
})

t.test('a probe that ends without a result allows another probe', async (t) => {
  const health = opened()
  health.admit(1_000, 'a')
  health.unknown('a')
  t.equal(health.admit(1_000, 'a'), true)
})

t.test('failures of calls that were already running do not prolong the open time', async (t) => {
  const health = opened()
  health.strike(900, STRIKES_OF_FAILURE, 'a')
  t.equal(health.restMs(1_000, 'a'), 0)
})

t.test('percentiles cover only the most recent answers', async (t) => {
  const health = new EndpointHealth(() => 0)
  t.equal(health.latencyMs(50), null)
  for (let nth = 0; nth < 100; nth++) health.answered(nth < 50 ? 1_000 : 10, 20)
  t.equal(health.latencyMs(50), 10)
  t.equal(health.throughput(50), 2_000)
})

t.test('a stream has the latency of its first output, and throughput over its whole time', async (t) => {
  const health = new EndpointHealth(() => 0)
  health.answered(50, 100, 2_000)
  t.equal(health.latencyMs(50), 50)
  t.equal(health.throughput(50), 50)
})

t.test('an open breaker reports how long it has been open and when the next probe is allowed', async (t) => {
  const health = opened()
  t.same(health.breaker(400), { openForMs: 400, probeInMs: 600 })
  t.same(health.breaker(1_500), { openForMs: 1_500, probeInMs: 0 })
  health.answered(5, 10)
  t.equal(health.breaker(1_500), null)
})

t.test('the breaker of an endpoint without an alternative opens only briefly', async (t) => {
  const health = new EndpointHealth(() => 0)
  for (let nth = 0; nth < 10; nth++) health.strike(0, STRIKES_OF_FAILURE, nth % 2 === 0 ? 'a' : 'b', true)
  let now = 0
  for (let round = 0; round < 8; round++) {
    now += health.breaker(now)?.probeInMs ?? 0
    for (let nth = 0; nth < PROBES_MAX; nth++) health.admit(now, `caller ${nth}`)
    for (let nth = 0; nth < PROBES_MAX; nth++) health.strike(now, STRIKES_OF_FAILURE, `caller ${nth}`, true)
    t.ok((health.breaker(now)?.probeInMs ?? Infinity) <= REST_ALONE_MS_MAX)
  }
})
