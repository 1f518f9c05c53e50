import t from 'tap'
import { linearScale, logScale, type Scale } from '../../../bench/report/svg/scale.ts'

const texts = ({ ticks }: Scale): readonly string[] => ticks.map(({ text }) => text)

t.test('a linear scale begins at zero and ends at a round value that is not exceeded', async (t) => {
  t.same(texts(linearScale([9_000, 100])), ['0', '2,500', '5,000', '7,500', '10,000'])
  t.same(texts(linearScale([0.3])), ['0', '0.1', '0.2', '0.3'])
  const scale = linearScale([9_000])
  t.same([scale.at(0), scale.at(10_000)], [0, 1])
})

t.test(
  'a logarithmic scale is bounded by round values, and labels only powers of ten when it is long',
  async (t) => {
    t.same(texts(logScale([0.4, 44])), ['1', '10'])
    t.same(texts(logScale([84, 121])), ['50', '100', '200'])
    t.same(texts(logScale([14, 2_390])), ['10', '100', '1,000'])
    const scale = logScale([0.002, 0.04])
    t.same([scale.at(0.002), scale.at(0.05).toFixed(6)], [0, '1.000000'])
  },
)

t.test('every value that can be drawn is within its scale', async (t) => {
  for (let power = -9; power < 9; power += 0.37) {
    for (const wide of [1, 1.0001, 7, 1e6]) {
      const values = [10 ** power, 10 ** power * wide]
      for (const scale of [logScale(values), linearScale(values)]) {
        const places = [...values.map((one) => scale.at(one)), ...scale.ticks.map(({ at }) => at)]
        t.ok(
          places.every((at) => at >= -1e-9 && at <= 1 + 1e-9),
          `${values.join()} at ${places.join()}`,
        )
        t.ok(scale.ticks.length > 0 && scale.ticks.length <= 20)
      }
    }
  }
})

t.test('missing values, and values without a logarithm, do not affect a scale', async (t) => {
  t.same(texts(logScale([Number.NaN, 0, -4, 2, 4])), texts(logScale([2, 4])))
  t.same(texts(linearScale([Number.NaN, Number.POSITIVE_INFINITY])), ['0', '1'])
  t.same(texts(logScale([])), ['1', '2', '5', '10'])
})
