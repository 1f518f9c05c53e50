/** What of two OpenAPI documents breaks a caller, and what is only new. */
import t from 'tap'
import { apiChanges } from '../../support/releases/api-changes.ts'
import { apiShapeOf, type ApiDocument } from '../../support/releases/api-shape.ts'
import type { Schema } from '../../support/releases/schema-shapes.ts'

interface Planted {
  readonly body?: unknown
  readonly isBodyRequired?: boolean
  readonly answer?: unknown
  readonly parameters?: readonly object[]
  readonly statuses?: readonly number[]
  readonly path?: string
  readonly schemas?: Readonly<Record<string, unknown>>
}

function planted({
  body,
  isBodyRequired = false,
  answer,
  parameters = [],
  statuses = [200],
  path = '/a/{id}',
  schemas = {},
}: Planted): ApiDocument {
  const json = (schema: unknown): object => ({ content: { 'application/json': { schema } } })
  return {
    paths: {
      [path]: {
        servers: [],
        post: {
          operationId: 'a.make',
          summary: 'Make one',
          parameters,
          ...(body !== undefined && { requestBody: { required: isBodyRequired, ...json(body) } }),
          responses: Object.fromEntries(
            statuses.map((status) => [status, answer === undefined ? {} : json(answer)]),
          ),
        },
      },
    },
    components: { schemas },
  } as ApiDocument
}

/** Changes as `place: text`, with `!` before what breaks. */
function changed(before: Planted, after: Planted): readonly string[] {
  return apiChanges(apiShapeOf(planted(before)), apiShapeOf(planted(after))).map(
    ({ place, text, isBreak }) => `${isBreak ? '!' : ''}${place.replace('POST /a/{} ', '')}: ${text}`,
  )
}

const object = (properties: Schema, required: readonly string[] = [], more: object = {}): Schema => ({
  type: 'object',
  properties,
  required,
  ...more,
})
const text = { type: 'string' }
const requests = (before: unknown, after: unknown): readonly string[] =>
  changed({ body: before }, { body: after })
const answers = (before: unknown, after: unknown): readonly string[] =>
  changed({ answer: before }, { answer: after })

t.test('a removed operation breaks callers; the parameters in its path may be renamed', async (t) => {
  t.same(changed({}, { path: '/b/{id}' }), [
    '!POST /a/{}: the operation is gone',
    'POST /b/{}: new: Make one',
  ])
  t.same(changed({}, { path: '/a/{name}' }), [])
})

t.test('a removed or newly required parameter is a breaking change; an optional one is not', async (t) => {
  const limit = { name: 'limit', in: 'query', schema: text }
  t.same(changed({ parameters: [limit] }, {}), ['!query limit: the parameter is gone'])
  t.same(changed({ parameters: [limit] }, { parameters: [{ ...limit, required: true }] }), [
    '!query limit: the parameter is required now',
  ])
  t.same(changed({}, { parameters: [limit] }), ['query limit: a new parameter'])
  t.same(changed({}, { parameters: [{ ...limit, required: true }] }), [
    '!query limit: a new parameter, and required',
  ])
  t.same(changed({ parameters: [limit] }, { parameters: [{ ...limit, in: 'header' }] }), [
    '!query limit: the parameter is gone',
    'header limit: a new parameter',
  ])
})

t.test('a removed status breaks callers', async (t) => {
  t.same(changed({ statuses: [200, 404] }, { statuses: [200, 409] }), [
    '!404: the status is gone',
    '409: a new status',
  ])
})

t.test('a body that is removed or newly required breaks callers', async (t) => {
  t.same(changed({ body: text }, {}), ['!body: the body is gone'])
  t.same(changed({ body: text }, { body: text, isBodyRequired: true }), ['!body: the body is required now'])
  t.same(changed({}, { body: text }), ['body: there is a body now'])
})

t.test('a request member that is removed, newly required or of fewer types breaks callers', async (t) => {
  const one = object({ a: text })
  t.same(requests(one, object({})), ['!body.a: the member is gone'])
  t.same(requests(one, object({ a: text }, ['a'])), ['!body.a: the member is required now'])
  t.same(requests(object({ a: text }, ['a']), one), [])
  t.same(requests(one, object({ a: text, b: text })), ['body.b: a new member'])
  t.same(requests(one, object({ a: text, b: text }, ['b'])), ['!body.b: a new member, and required'])
  t.same(requests(object({ a: { type: ['string', 'null'] } }), one), ['!body.a: takes no `null` any more'])
  t.same(requests(object({ a: { type: 'number' } }), object({ a: { type: 'integer' } })), [
    '!body.a: takes no `number` any more',
  ])
  t.same(requests(object({ a: { type: 'integer' } }), object({ a: { type: 'number' } })), [
    'body.a: may be `number` now',
  ])
  t.same(requests(one, { ...one, additionalProperties: false }), ['!body: other members are refused now'])
})

t.test('a removed value of a request breaks callers, unless every text is accepted', async (t) => {
  const of = (...values: readonly string[]): Schema => object({ a: { enum: values } })
  t.same(requests(of('x', 'y'), of('x', 'z')), [
    '!body.a: the value `"y"` is gone',
    'body.a: the value `"z"` is new',
  ])
  t.same(requests(of('x'), object({ a: text })), ['body.a: may be `string` now'])
  t.same(requests(object({ a: text }), of('x')), ['!body.a: takes no `string` any more'])
})

t.test('an answer member that is removed, becomes optional or gets a new type breaks callers', async (t) => {
  const one = object({ a: text }, ['a'])
  t.same(answers(one, object({})), ['!200.a: the member is gone'])
  t.same(answers(one, object({ a: text })), ['!200.a: the member may be missing now'])
  t.same(answers(object({ a: text }), one), [])
  t.same(answers(one, object({ a: { type: ['string', 'null'] } }, ['a'])), ['!200.a: may be `null` now'])
  t.same(answers(object({ a: { type: ['string', 'null'] } }, ['a']), one), [])
  t.same(answers(one, object({ a: text, b: text }, ['a', 'b'])), ['200.b: a new member'])
  t.same(answers(object({ a: { enum: ['x'] } }), object({ a: { enum: ['x', 'y'] } })), [
    '200.a: the value `"y"` is new',
  ])
})

t.test('compares each form with the form of the same kind, by the distinguishing member', async (t) => {
  const form = (type: string, members: Schema, required: readonly string[] = []): Schema =>
    object({ type: { const: type }, ...members }, ['type', ...required])
  const two = { anyOf: [form('a', { x: text }), form('b', { y: text })] }
  t.same(requests(two, { anyOf: [form('b', { y: text }), form('a', {})] }), [
    '!body(type="a").x: the member is gone',
  ])
  t.same(requests(two, { anyOf: [form('a', { x: text }), form('b', { y: text }, ['y'])] }), [
    '!body(type="b").y: the member is required now',
  ])
  t.same(answers(two, { anyOf: [...two.anyOf, form('c', {})] }), ['200: a new form: type="c"'])
})

t.test('a single form is found again among several', async (t) => {
  const alone = object({ type: { const: 'a' }, x: text }, ['type'])
  const other = object({ type: { const: 'b' } }, ['type'])
  t.same(requests(alone, { oneOf: [other, alone] }), ['body: a new form: type="b"'])
})

t.test('compares members at any depth, in lists, in maps and through references', async (t) => {
  const deep = (leaf: Schema): Schema =>
    object({ rows: { type: 'array', items: { type: 'object', additionalProperties: leaf } } })
  t.same(requests(deep(object({ a: text })), deep(object({}))), ['!body.rows[].*.a: the member is gone'])
  const reference = { $ref: '#/components/schemas/One' }
  const before = { body: reference, schemas: { One: object({ a: text }) } }
  t.same(changed(before, { body: object({}) }), ['!body.a: the member is gone'])
  t.same(changed(before, { body: object({ a: text }) }), [])
})

t.test('`allOf` is one object with the members of each schema', async (t) => {
  const all = { allOf: [object({ a: text }, ['a']), object({ b: text })] }
  t.same(requests(all, object({ a: text, b: text }, ['a'])), [])
  t.same(requests(all, object({ a: text }, ['a'])), ['!body.b: the member is gone'])
})

t.test('a recursive schema is compared in finite time', async (t) => {
  const tree = { $ref: '#/components/schemas/Tree' }
  const schemas = { Tree: object({ next: tree, a: text }) }
  t.same(changed({ body: tree, schemas }, { body: tree, schemas }), [])
})

t.test('a reference without a target is a fault of the document', async (t) => {
  t.throws(() => apiShapeOf(planted({ body: { $ref: '#/components/schemas/None' } })), /None leads nowhere/)
})
