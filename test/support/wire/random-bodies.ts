/** Bodies that a shape accepts, or nearly, and what becomes of them when something is changed at random. */
import fc from 'fast-check'

interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Shape
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

const UUID = '0b8f5f0e-6c1e-4d53-9a56-3f1f6f0f2c11'
/** Texts that patterns of ours accept; tried in turn. */
const WORDS = [
  'a',
  'main',
  'a/b',
  'SECRET',
  'https://example.com/a',
  '1280x720',
  '2027-01-31',
  '0.02',
  'example.com',
  UUID,
  'data:image/png;base64,AAAA',
  'data:audio/wav;base64,AAAA',
  'data:video/mp4;base64,AAAA',
  'message',
  'function_call',
  'image',
  'openrouter:bash',
  'user@example.com',
]
/** Odd values that replace others. Texts are of the plane that all validators count alike. */
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  1.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  1e308,
  '',
  ' ',
  'a',
  '\u0000',
  'ä',
  'a\nb',
  '0',
  '1',
  'null',
  'true',
  UUID,
  `${UUID}0`,
  [],
  {},
  [[]],
  [{}],
  [null],
  [1.5],
  ['a', 1],
  [[1], 'a'],
  { length: 1 },
  { 0: 'a', length: 1 },
  { type: 'text' },
  { constructor: 1 },
  { toString: null },
  JSON.parse('{"__proto__":{"input":"a"}}'),
  'x'.repeat(600),
  Array.from({ length: 40 }, () => 'a'),
]

export function bodiesOf(schema: object): fc.Arbitrary<unknown> {
  return arbitraryOf(schema)
}

function arbitraryOf(shape: Shape): fc.Arbitrary<unknown> {
  if (shape.anyOf !== undefined) return fc.oneof(...shape.anyOf.map(arbitraryOf))
  if (shape.const !== undefined) return fc.constant(shape.const)
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum)
  switch (shape.type) {
    case 'string':
      return textOf(shape)
    case 'integer':
      return fc.integer(rangeOf(shape))
    case 'number':
      return fc.oneof(fc.integer(rangeOf(shape)), fc.constant(0.5))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitraryOf(shape.items ?? {}), {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 3, 3),
      })
    case 'object':
      return objectOf(shape)
    default:
      return fc.constantFrom(...ODD)
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = 8 }: Shape): fc.Arbitrary<unknown> {
  if (format !== undefined) return fc.constantFrom(UUID, UUID.toUpperCase())
  if (pattern === undefined)
    return fc.string({
      unit: 'binary-ascii',
      minLength,
      maxLength: Math.max(minLength, Math.min(maxLength, 8)),
    })
  const known = WORDS.filter((word) => new RegExp(pattern, 'u').test(word))
  return fc.constantFrom(...(known.length === 0 ? WORDS : known))
}

function rangeOf({ minimum = -5, maximum = 5 }: Shape): { readonly min: number; readonly max: number } {
  const min = Math.max(Math.ceil(minimum), -(2 ** 31))
  return { min, max: Math.max(min, Math.min(Math.floor(maximum), min + 10)) }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Shape): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, arbitraryOf(shape)]),
  )
  const named = fc.record(members, { requiredKeys: required.filter((name) => Object.hasOwn(members, name)) })
  if (typeof additionalProperties !== 'object') return named
  const others = fc.dictionary(
    fc.string({ unit: 'grapheme-ascii', maxLength: 4 }),
    arbitraryOf(additionalProperties),
    { maxKeys: 2, noNullPrototype: true },
  )
  return fc.tuple(others, named).map(([more, own]) => ({ ...more, ...(own as object) }))
}

/** Nothing to three changes: a value replaced, a member or an element left out, doubled or added. */
export function mutated(bodies: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('replace', 'drop', 'double', 'add'),
    odd: fc.constantFrom(...ODD),
  })
  return fc
    .tuple(bodies, fc.array(change, { maxLength: 3 }))
    .map(([body, changes]) =>
      changes.reduce<unknown>((value, one) => changed(value, one), structuredClone(body)),
    )
}

interface Change {
  readonly at: number
  readonly how: string
  readonly odd: unknown
}

/** Where a value hangs. */
interface Spot {
  readonly holder: Record<string, unknown> | unknown[]
  readonly name: string
}

function changed(body: unknown, { at, how, odd: shared }: Change): unknown {
  const odd = structuredClone(shared)
  const found = [...spotsOf(body)]
  const spot = found[at % (found.length + 1)]
  if (spot === undefined) return how === 'replace' ? odd : body
  const { holder, name } = spot
  if (Array.isArray(holder)) {
    const index = Number(name)
    if (how === 'drop') holder.splice(index, 1)
    else if (how === 'double') holder.push(structuredClone(holder[index]))
    else holder[index] = odd
  } else if (how === 'drop') Reflect.deleteProperty(holder, name)
  else if (how === 'replace')
    Object.defineProperty(holder, name, { value: odd, enumerable: true, configurable: true, writable: true })
  else
    Object.defineProperty(holder, `${name}x`, {
      value: odd,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  return body
}

function* spotsOf(value: unknown): Generator<Spot> {
  if (typeof value !== 'object' || value === null) return
  const holder = value as Spot['holder']
  for (const [name, member] of Object.entries(holder)) {
    yield { holder, name }
    yield* spotsOf(member)
  }
}
