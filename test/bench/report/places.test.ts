import t from 'tap'
import { colourAt, dashAt, KNOWN, placesOf } from '../../../bench/report/places.ts'

const strokes = (names: readonly string[]): readonly string[] =>
  [...placesOf(names).values()].map((place) => `${colourAt(place)} ${dashAt(place)}`)

t.test('a known subject has the same stroke, whichever others are shown', async (t) => {
  const [alone] = strokes(['nginx'])
  t.equal(strokes(['a', 'b', 'sluice', 'nginx']).at(-1), alone)
})

t.test('no two lines of a plot look alike, and none has the colour of the product', async (t) => {
  const names = [...KNOWN, 'busboy', 'tus', 'another']
  const found = strokes(names)
  t.equal(new Set(found).size, names.length)
  t.equal(found.filter((stroke) => stroke.startsWith('0 ')).length, 1)
})

t.test('a name that comes twice has one place, and unknown names take free ones', async (t) => {
  t.same(
    [...placesOf(['front 1', 'runner', 'front 1', 'sluice'])],
    [
      ['front 1', 1],
      ['runner', 2],
      ['sluice', 0],
    ],
  )
})
