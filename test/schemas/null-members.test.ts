import t from 'tap'
import Type from 'typebox'
import { BODIES } from '../../src/schemas/bodies.ts'
import { fits } from '../../src/schemas/fits.ts'
import { withoutNulls } from '../../src/schemas/null-members.ts'

const Inner = Type.Object({ kind: Type.Literal('a'), note: Type.Optional(Type.String()) })
const Other = Type.Object({ kind: Type.Literal('b'), size: Type.Optional(Type.Integer()) })
const Shape = Type.Object(
  {
    name: Type.String(),
    limit: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    inner: Type.Optional(Type.Union([Inner, Other])),
    list: Type.Optional(Type.Array(Inner)),
    map: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)

t.test(
  'nulls of optional members are removed at any depth; nulls with a meaning, or invalid ones, are kept',
  async (t) => {
    const value = {
      name: 'n',
      limit: null,
      inner: { kind: 'b', size: null },
      list: [{ kind: 'a', note: null }, { kind: 'a' }],
      map: null,
    }
    t.same(withoutNulls(Shape, value), {
      name: 'n',
      limit: null,
      inner: { kind: 'b' },
      list: [{ kind: 'a' }, { kind: 'a' }],
    })
    for (const kept of [
      { name: null },
      { name: 'n', other: null },
      { name: 'n', map: { a: null } },
      { name: 'n', list: [null] },
    ]) {
      t.equal(withoutNulls(Shape, kept), kept, JSON.stringify(kept))
    }
  },
)

t.test('`__proto__` is treated as an ordinary member', async (t) => {
  const value: unknown = JSON.parse('{"__proto__":null,"name":"n","map":null}')
  t.same(Object.keys(withoutNulls(Shape, value) as object), ['__proto__', 'name'])
})

t.test('every optional member of every JSON body may be null', async (t) => {
  for (const [name, { schema }] of Object.entries(BODIES)) {
    const { properties, required = [] } = schema as { properties: object; required?: readonly string[] }
    const optional = Object.keys(properties).filter((member) => !required.includes(member))
    const without = withoutNulls(
      schema,
      Object.fromEntries(optional.map((member) => [member, null])),
    ) as object
    const refused = Object.entries(without).filter(
      ([member, value]) => !fits(Reflect.get(properties, member) as never, value),
    )
    t.same(refused, [], name)
  }
})
