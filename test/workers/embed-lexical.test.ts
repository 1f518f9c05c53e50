import t from 'tap'
import fc from 'fast-check'
import { embedLexical } from '../../src/workers/embed-lexical.ts'

interface Item {
  readonly object: string
  readonly index: number
  readonly embedding: readonly number[] | string
}

function itemsOf(
  texts: readonly string[],
  dimensions = 256,
  encoding: 'float' | 'base64' = 'float',
): readonly Item[] {
  return JSON.parse(
    new TextDecoder().decode(embedLexical({ texts, firstIndex: 0, dimensions, encoding }).data),
  ) as readonly Item[]
}

function vectorOf(text: string, dimensions = 1536): readonly number[] {
  const embedding = itemsOf([text], dimensions)[0]?.embedding
  return Array.isArray(embedding) ? (embedding as readonly number[]) : []
}

function cosine(a: string, b: string): number {
  const [left, right] = [vectorOf(a), vectorOf(b)]
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
}

t.test('a text gives the same vector on every machine and in every version', async (t) => {
  t.same(
    vectorOf('The quick brown fox', 8),
    [-0.2499203, 0.4998406, 0.2320689, -0.2499203, -0.3748805, 0.6069493, 0, -0.2499203],
  )
  t.same(
    itemsOf(['a', 'b']).map(({ object, index }) => [object, index]),
    [
      ['embedding', 0],
      ['embedding', 1],
    ],
  )
})

t.test('shared wording is close, unrelated texts and synonyms are not: it is lexical', async (t) => {
  t.ok(cosine('the red car is fast', 'a fast red car') > 0.4)
  t.ok(Math.abs(cosine('the red car is fast', 'quarterly revenue grew slowly')) < 0.15)
  t.ok(Math.abs(cosine('automobile', 'car')) < 0.15)
  t.ok(cosine('running', 'runner') > cosine('running', 'table'))
})

t.test('case and compatible forms of a letter do not matter', async (t) => {
  t.same(vectorOf('Straße ﬁne'), vectorOf('STRAßE FINE'))
})

t.test('every text has a vector of length one with the requested dimensions', async (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.integer({ min: 1, max: 300 }),
      (text, dimensions) => {
        const vector = vectorOf(text, dimensions)
        const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
        return vector.length === dimensions && Math.abs(length - 1) < 1e-5
      },
    ),
  )
  t.pass()
})

t.test('float and base64 agree in float32', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 64 }),
      (texts, dimensions) => {
        const floats = itemsOf(texts, dimensions)
        const packed = itemsOf(texts, dimensions, 'base64')
        return floats.every(({ embedding }, at) => {
          const bytes = Buffer.from(String(packed[at]?.embedding), 'base64')
          return (embedding as readonly number[]).every(
            (value, nth) => Math.fround(value) === bytes.readFloatLE(nth * 4),
          )
        })
      },
    ),
  )
  t.pass()
})

t.test('a slice numbers its items from its first index, and its words are counted', async (t) => {
  const texts = ['one two', 'three!']
  const out = embedLexical({ texts, firstIndex: 7, dimensions: 4, encoding: 'float' })
  t.match(out, { tokens: 3 })
  t.match(JSON.parse(new TextDecoder().decode(out.data)), [{ index: 7 }, { index: 8 }])
})
