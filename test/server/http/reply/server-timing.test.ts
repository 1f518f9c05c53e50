import t from 'tap'
import { serverTiming } from '../../../../src/server/http/reply/reply.ts'

t.test('durations have three decimals, whatever their size', (t) => {
  const times = [0, 0.0004, 0.0005, 0.001, 0.0999, 0.1, 0.9996, 1, 9.9995, 10, 99.5, 100, 123.456, 600_000.25]
  for (const ms of times)
    t.equal(serverTiming({}, ms), `total;dur=${(Math.round(ms * 1_000) / 1_000).toFixed(3)}`)
  t.end()
})

t.test('the stages that ran are listed in order', (t) => {
  const stages = { authMs: 1, limitsMs: 0.25, validateMs: 10, upstreamMs: 1_234.5, ttftMs: 20.02 }
  t.equal(
    serverTiming(stages, 1_300),
    'auth;dur=1.000, limits;dur=0.250, validate;dur=10.000, upstream;dur=1234.500, ttft;dur=20.020, total;dur=1300.000',
  )
  t.equal(serverTiming({ upstreamMs: 3 }, 4), 'upstream;dur=3.000, total;dur=4.000')
  t.end()
})
