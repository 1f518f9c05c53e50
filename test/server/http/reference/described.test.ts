import t from 'tap'
import Type from 'typebox'
import {
  described,
  descriptionOf,
  isObject,
} from '../../../../src/server/http/reference/members/described.ts'
import { MEMBER_TEXTS } from '../../../../src/server/http/reference/members/texts.ts'
import { openApiOf } from '../../../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { operation } from '../../../support/front.ts'

interface Member {
  /** Where the member is, from the top of the document. */
  readonly path: string
  readonly name: string
  readonly owner: string
  readonly schema: unknown
}

/** Every member of every schema below a value, however deep, and whatever stands between. */
function membersBelow(value: unknown, path = '', owner = ''): readonly Member[] {
  if (Array.isArray(value))
    return value.flatMap((one: unknown, at) => membersBelow(one, `${path}/${at}`, owner))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'example' || key === 'const') return []
    if (key !== 'properties' || !isObject(inner)) return membersBelow(inner, `${path}/${key}`, owner)
    return Object.entries(inner).flatMap(([name, schema]) => [
      { path: `${path}/${name}`, name, owner, schema },
      ...membersBelow(schema, `${path}/${name}`, name),
    ])
  })
}

interface Parameter {
  readonly name: string
  readonly description?: string
}

function parametersBelow(value: unknown, path = ''): readonly (Parameter & { readonly at: string })[] {
  if (!isObject(value)) return []
  const own = Array.isArray(value['parameters']) ? (value['parameters'] as Parameter[]) : []
  return [
    ...own.map((one) => ({ ...one, at: `${path} ${one.name}` })),
    ...Object.entries(value).flatMap(([key, inner]) => parametersBelow(inner, `${path}/${key}`)),
  ]
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const document = plain(openApiOf(OPERATIONS))

/** Members and parameters without a description. */
function bareOf(found: unknown): readonly string[] {
  return [
    ...membersBelow(found)
      .filter(({ schema }) => descriptionOf(schema) === undefined)
      .map(({ path }) => path),
    ...parametersBelow(found)
      .filter(({ description = '' }) => description === '')
      .map(({ at }) => at),
  ]
}

t.test('a member and a parameter without a description are found, however deep they are', async (t) => {
  const inner = Type.Union([Type.Null(), Type.Array(Type.Object({ qqq: Type.String() }))])
  const planted = operation({
    path: '/echo/{zzz}',
    input: { params: Type.Object({ zzz: Type.String() }) },
    success: { status: 200, body: Type.Object({ data: inner }) },
  })
  t.same(
    bareOf(plain(openApiOf([planted]))).map((path) => path.replace(/.*[/ ]/, '')),
    ['qqq', 'zzz'],
  )
})

t.test('every member and every parameter of the document has a description', async (t) => {
  t.ok(membersBelow(document).length > 1_500, `${membersBelow(document).length} members`)
  t.same(bareOf(document), [])
})

t.test('no text is for a member that is gone, or for one whose shapes all have their own', async (t) => {
  const shown = new Map(membersBelow(document).map(({ schema }) => [descriptionOf(schema), true]))
  const parameters = new Map(parametersBelow(document).map(({ description }) => [description, true]))
  t.same(
    Object.entries(MEMBER_TEXTS)
      .filter(([, text]) => !shown.has(text) && !parameters.has(text))
      .map(([name]) => name),
    [],
  )
})

t.test('the description of a shape wins, then that of its owner, then that of its name', async (t) => {
  const shape = Type.Object({
    name: Type.String({ description: 'Own.' }),
    slug: Type.Union([Type.Null(), Type.String({ description: 'Of the one alternative.' })]),
    id: Type.Union([Type.Integer(), Type.String({ description: 'Of one of two.' })]),
    error: Type.Object({ message: Type.String() }),
    message: Type.String(),
  })
  const texts = membersBelow(plain(described(shape))).map(({ path, schema }) => [path, descriptionOf(schema)])
  t.same(Object.fromEntries(texts), {
    '/name': 'Own.',
    '/slug': 'Of the one alternative.',
    '/id': MEMBER_TEXTS['id'],
    '/error': MEMBER_TEXTS['error'],
    '/error/message': MEMBER_TEXTS['error.message'],
    '/message': MEMBER_TEXTS['message'],
  })
})
