import t from 'tap'
import { AggregatorRegistry, Histogram, Registry } from 'prom-client'
import { Durations } from '../../../src/server/observe/durations.ts'

const SHAPE = { name: 'd_seconds', help: 'D.', labels: ['operation', 'model'], bounds: [0.001, 0.5, 1] }
const VALUES: readonly (readonly [string, number])[] = [
  ['a|m', 0],
  ['a|m', 0.001],
  ['a|m', 0.0011],
  ['b|m', 1],
  ['b|m', 1.5],
  ['a|m', 60],
  ['c|m', 0.5],
  ['b|m', -1],
]

t.test(
  'text and JSON equal those of the histogram of prom-client, also when processes are summed',
  async (t) => {
    const [own, other] = [new Registry(), new Registry()]
    const durations = new Durations(own, SHAPE)
    const histogram = new Histogram({
      name: SHAPE.name,
      help: SHAPE.help,
      labelNames: SHAPE.labels,
      buckets: SHAPE.bounds,
      registers: [other],
    })
    for (const [label, value] of VALUES) {
      durations.observe(label, value)
      histogram.labels(...label.split('|')).observe(value)
    }
    t.equal(await own.metrics(), await other.metrics())
    const summed = (registry: Registry) =>
      registry.getMetricsAsJSON().then((one) => AggregatorRegistry.aggregate([one, one]).metrics())
    t.equal(await summed(own), await summed(other))
    t.match(await own.metrics(), 'd_seconds_bucket{le="+Inf",operation="b",model="m"} 3')
  },
)

t.test('a label has no series before it is observed', async (t) => {
  const registry = new Registry()
  void new Durations(registry, SHAPE)
  t.notMatch(await registry.metrics(), /d_seconds_count/)
})
