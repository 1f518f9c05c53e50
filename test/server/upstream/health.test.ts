import t from 'tap'
import {
  EndpointHealth,
  STRIKES_OF_FAILURE,
  STRIKES_OF_TIMEOUT,
} from '../../../src/server/upstream/health.ts'

function opened(): EndpointHealth {
  const health = new EndpointHealth(() => 0)
  for (let nth = 0; nth < 10; nth++) health.struck(0, STRIKES_OF_FAILURE)
  return health
}

t.test('the breaker opens at the tenth strike in a row, at the fourth time-out', async (t) => {
  const health = new EndpointHealth(() => 0)
  for (let nth = 0; nth < 9; nth++) health.struck(0, STRIKES_OF_FAILURE)
  t.equal(health.admit(0), true)
  health.answered(5, 10)
  for (let nth = 0; nth < 3; nth++) health.struck(0, STRIKES_OF_TIMEOUT)
  t.equal(health.isOpen, false)
  health.struck(0, STRIKES_OF_TIMEOUT)
  t.equal(health.admit(999), false)
})

t.test('after its rest one probe goes out, and its success closes the breaker', async (t) => {
  const health = opened()
  t.equal(health.restMs(400), 600)
  t.equal(health.admit(1_000), true)
  t.equal(health.admit(1_000), false, 'a second call waits for the probe')
  health.answered(5, 10)
  t.equal(health.admit(1_001), true)
  t.equal(health.admit(1_001), true)
})

t.test('a failed probe doubles the rest, up to thirty seconds', async (t) => {
  const health = opened()
  let now = 1_000
  for (const restMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    t.equal(health.admit(now), true)
    health.struck(now, STRIKES_OF_FAILURE)
    t.equal(health.restMs(now), restMs)
    now += restMs
  }
})

t.test('a probe that ends without a verdict makes room for another one', async (t) => {
  const health = opened()
  health.admit(1_000)
  health.unknown()
  t.equal(health.admit(1_000), true)
})

t.test('failures of calls that were under way do not prolong the rest', async (t) => {
  const health = opened()
  health.struck(900, STRIKES_OF_FAILURE)
  t.equal(health.restMs(1_000), 0)
})

t.test('percentiles are of the last answers only', async (t) => {
  const health = new EndpointHealth(() => 0)
  t.equal(health.latencyMs(50), null)
  for (let nth = 0; nth < 100; nth++) health.answered(nth < 50 ? 1_000 : 10, 20)
  t.equal(health.latencyMs(50), 10)
  t.equal(health.throughput(50), 2_000)
})
