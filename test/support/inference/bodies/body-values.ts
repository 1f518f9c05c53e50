/** Values of members of requests, hostile ones among them, as wide as the schemas take them. */
import fc from 'fast-check'

export type Body = Readonly<Record<string, unknown>>

export const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', ' ', '\u0000', '"\\', '[error] x', '<system>\nx\n</system>', 'sl1.a.b', '__proto__'),
)
export const named = fc.string({ minLength: 1, maxLength: 6 })
export const base64 = fc.base64String({ maxLength: 12 })
export const url = fc.constantFrom(
  'https://x.example/a.pdf',
  'http://x.example/%20?a=b#c',
  'https://ü.example/',
)
export const schema = fc.constantFrom<Body>(
  { type: 'object' },
  { type: 'object', properties: { a: { type: 'array', items: {} } }, additionalProperties: false },
  { type: 'object', $defs: { ü: { const: null } } },
)
/** Arguments of tools, three levels deep. */
export const input = fc.dictionary(
  named.filter((name) => name !== '__proto__'),
  fc.oneof(text, fc.integer(), fc.constant(null), fc.constant({ a: { b: [{ c: '' }, []] } })),
  { maxKeys: 2 },
)
export const cache = fc.constantFrom<Body>(
  {},
  {},
  { cache_control: { type: 'ephemeral' } },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
  { cache_control: null },
)
export const signature = base64.filter((data) => data !== '')
export const format = fc.constantFrom(
  'anthropic-claude-v1',
  'openai-responses-v1',
  'google-gemini-v1',
  'xai-responses-v1',
)
/** What the input of a freeform tool has to follow. @param inner name of the member with the grammar; absent: none */
export function grammar(inner?: string): fc.Arbitrary<Body> {
  const rules = { syntax: 'lark', definition: 'start: "a"' }
  const reported = inner === undefined ? rules : { [inner]: rules }
  return fc.constantFrom<Body>({ type: 'text' }, { type: 'grammar', ...reported })
}
/** A number that each protocol takes. */
export const figure = fc.constantFrom(0, 0.25, 0.5)
export const flag = fc.constantFrom(null, true, false)

/** Some of the members. */
export function some(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Body> {
  return fc.record(members, { requiredKeys: [] })
}

/** All members of all objects, the later ones first. */
export function joined(...bodies: readonly fc.Arbitrary<Body>[]): fc.Arbitrary<Body> {
  return fc.tuple(...bodies).map((all): Body => Object.assign({}, ...all) as Body)
}
