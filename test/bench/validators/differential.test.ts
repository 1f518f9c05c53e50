import fc from 'fast-check'
import t from 'tap'
import { Type as Older } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Compile } from 'typebox/compile'
import Type, { type TSchema } from 'typebox'
import { BODIES, type BodyForm } from '../../../src/schemas/bodies.ts'
import { olderTypebox } from '../../../bench/validators/older-typebox.ts'
import { bodiesOf, mutated } from '../../support/wire/random-bodies.ts'

const RUNS = 1_000

for (const [name, { schema }] of Object.entries<BodyForm>(BODIES)) {
  const newer = Compile<TSchema>(schema)
  const older = TypeCompiler.Compile(olderTypebox(schema))

  t.test(`${name}: typebox 1.x and 0.34 accept the same bodies`, async (t) => {
    let accepted = 0
    fc.assert(
      fc.property(mutated(bodiesOf(schema)), (body) => {
        const isGood = newer.Check(body)
        if (isGood) accepted += 1
        return isGood === older.Check(body)
      }),
      { numRuns: RUNS },
    )
    t.ok(accepted > RUNS / 20, `${accepted} of ${RUNS} are accepted: both answers are asked for`)
    t.ok(accepted < RUNS, 'some are refused')
  })
}

/** Where the two differ, and why none of it reaches a caller unseen. */
const DIFFERENCES: readonly {
  readonly title: string
  readonly shape: TSchema
  readonly value: unknown
  readonly newer: boolean
}[] = [
  {
    title: '1.x counts characters, as JSON Schema and the contract do; 0.34 counts UTF-16 units',
    shape: Type.String({ maxLength: 3 }),
    value: '😀😀😀',
    newer: true,
  },
  { title: 'the same of the least length', shape: Type.String({ minLength: 2 }), value: '😀', newer: false },
  {
    title: 'patterns of 1.x see characters, those of 0.34 UTF-16 units',
    shape: Type.String({ pattern: '^.$' }),
    value: '😀',
    newer: true,
  },
  {
    title: '1.x passes over the holes of an array, which no JSON has',
    shape: Type.Array(Type.Number()),
    value: [, 1],
    newer: true,
  },
]

for (const { title, shape, value, newer } of DIFFERENCES) {
  t.test(`typebox 1.x and 0.34 differ: ${title}`, async (t) => {
    t.equal(Compile(shape).Check(value), newer)
    t.equal(TypeCompiler.Compile(olderTypebox(shape)).Check(value), !newer)
  })
}

/** Nothing that JSON can hold, and what code may hand over. */
const FOREIGN: readonly unknown[] = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  1n,
  undefined,
  { model: undefined, input: 'a' },
  Object.create({ input: 'a' }),
  Object.create(null),
  new Date(0),
  new Map(),
  JSON.parse('{"__proto__":{"input":"a"}}'),
  JSON.parse('{"input":"a","__proto__":{"model":1}}'),
  { input: new String('a') },
  { input: [new Number(1)] },
  { input: [Number.NaN] },
  { input: 'a', dimensions: Number.POSITIVE_INFINITY },
  { input: Object.assign([], { 0: 'a' }) },
  { input: new Float64Array(1) },
]

t.test(
  'both agree on values that JSON cannot hold: NaN, prototypes, undefined members, boxed texts',
  async (t) => {
    const { schema } = BODIES.embeddings
    const [newer, older] = [Compile<TSchema>(schema), TypeCompiler.Compile(olderTypebox(schema))]
    for (const value of FOREIGN) t.equal(newer.Check(value), older.Check(value))
  },
)

t.test('both check the format of a text alike, and only 0.34 refuses an unknown format', async (t) => {
  const shape = Type.String({ format: 'uuid' })
  const [newer, older] = [Compile(shape), TypeCompiler.Compile(olderTypebox(shape))]
  for (const text of ['0b8f5f0e-6c1e-4d53-9a56-3f1f6f0f2c11', '0b8f5f0e', ''])
    t.equal(newer.Check(text), older.Check(text))
  t.equal(Compile(Type.String({ format: 'binary' })).Check('a'), true)
  t.equal(TypeCompiler.Compile(Older.String({ format: 'binary' })).Check('a'), false)
})

t.test('reports a keyword that has no equivalent in 0.34 instead of leaving it out', async (t) => {
  t.throws(() => olderTypebox({ type: 'object', not: {} }), /'not'/)
})
