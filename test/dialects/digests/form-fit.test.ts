/** Which schemas of answers the built-in model can meet. D35. */
import t from 'tap'
import { formOf } from '../../../src/dialects/text-digest.ts'

const isMet = (schema: unknown, last = 'Hello there'): boolean =>
  formOf({ type: 'json_schema' }, { schema, last }).isFormMet
/** Of a schema that the clients of structured outputs write, with these keywords for the text. */
const ofText = (text: unknown): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { text },
  required: ['text'],
  additionalProperties: false,
})

t.test('accepts schemas that allow an object with the text', async (t) => {
  for (const schema of [
    ofText({ type: 'string' }),
    ofText({ type: ['string', 'null'], description: 'pattern', title: 't', default: 1 }),
    ofText({ enum: ['x', 'Hello there'] }),
    ofText({ const: 'Hello there', minLength: 11, maxLength: 11 }),
    ofText(true),
    {},
    { type: ['array', 'object'] },
    { properties: { text: {}, other: { pattern: '(a+)+$' } }, minProperties: 1, maxProperties: 1 },
    { properties: { other: {} }, additionalProperties: { type: 'string' } },
    { additionalProperties: true, $defs: { a: { $ref: '#/$defs/a' } } },
  ])
    t.ok(isMet(schema), JSON.stringify(schema))
})

t.test('rejects schemas that refuse the object, and schemas that cannot be decided', async (t) => {
  const deep = JSON.parse('{"anyOf":['.repeat(100) + '{}' + ']}'.repeat(100)) as object
  for (const schema of [
    ...[undefined, null, true, 'object', 7, []],
    ofText({ type: 'number' }),
    ofText({ type: 7 }),
    ofText({ enum: ['Hello'] }),
    ofText({ enum: 'Hello there' }),
    ofText({ const: null }),
    ofText({ minLength: 12 }),
    ofText({ maxLength: 10 }),
    ofText({ maxLength: '11' }),
    ofText({ pattern: '.' }),
    ofText({ pattern: '(a+)+$' }),
    ofText({ format: 'email' }),
    ofText({ $ref: '#' }),
    ofText({ not: {} }),
    ofText({ constructor: {} }),
    ofText(false),
    ofText(null),
    { type: 'array' },
    { type: [] },
    { required: ['text', 'other'] },
    { required: 'text' },
    { minProperties: 2 },
    { maxProperties: 0 },
    { properties: [] },
    { additionalProperties: false },
    { properties: { other: {} }, additionalProperties: { type: 'number' } },
    { properties: JSON.parse('{"__proto__":{"text":{}}}') as object, additionalProperties: false },
    ...[{ anyOf: [{}] }, { allOf: [] }, { $ref: '#' }, { $dynamicRef: '#' }, { unknown: 1 }],
    { patternProperties: { '^(a+)+$': {} } },
    { propertyNames: {} },
    JSON.parse('{"__proto__":{}}') as object,
    deep,
  ])
    t.notOk(isMet(schema), JSON.stringify(schema))
})

t.test('a surrogate pair counts as one character', async (t) => {
  t.ok(isMet(ofText({ minLength: 3, maxLength: 3 }), 'a😀b'))
  t.notOk(isMet(ofText({ maxLength: 3 }), 'a\ud83db\ude00'))
})

t.test('only the form `text` is met without a schema', async (t) => {
  const of = (type: string | null): unknown =>
    formOf(type === null ? null : { type }, { schema: {}, last: '' })
  t.same(of(null), { form: 'text', isFormMet: true })
  t.same(of('text'), { form: 'text', isFormMet: true })
  t.same(of('json_object'), { form: 'json_object', isFormMet: false })
})
