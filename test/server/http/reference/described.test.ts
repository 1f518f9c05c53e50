import t from 'tap'
import Type from 'typebox'
import {
  described,
  descriptionOf,
  isObject,
} from '../../../../src/server/http/reference/members/described.ts'
import {
  COMMON_TEXTS,
  SUBJECT_TEXTS,
  CALL_TEXTS,
} from '../../../../src/server/http/reference/members/texts.ts'
import { FAILURES } from '../../../../src/schemas/failures.ts'
import { TAGS } from '../../../../src/server/operations/tags.ts'
import { tabledMembers, type TabledMember } from '../../../support/reference-members.ts'
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

t.test('finds members and parameters without a description, at any depth', async (t) => {
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

t.test('the tables contain no text that no member uses', async (t) => {
  const taken = new Set(tabledMembers(OPERATIONS).map(({ table, key }) => table[key]))
  for (const { schema } of membersBelow(document)) taken.add(descriptionOf(schema) ?? '')
  const all = [COMMON_TEXTS, ...Object.values(SUBJECT_TEXTS).flat()].flatMap((table) => Object.entries(table))
  t.same(
    all.filter(([, text]) => !taken.has(text)).map(([key]) => key),
    [],
  )
})

/** Keys of texts that fit members of several types: a result of any shape, and what an answer repeats of its request. */
const SEVERAL_TYPES: readonly string[] = ['data', 'tool_choice']

/** Texts that members of different types take: one of them has the text of the other. */
function sharedTexts(members: readonly TabledMember[]): readonly string[] {
  const byText = new Map<string, TabledMember[]>()
  for (const member of members) {
    const list = byText.get(`${member.key}: ${member.text}`) ?? []
    byText.set(`${member.key}: ${member.text}`, list)
    list.push(member)
  }
  return [...byText].flatMap(([text, list]) => {
    const types = [...new Set(list.map((one) => one.types))].sort()
    return types.length === 1
      ? []
      : [
          `${text} (${types.map((type) => `${type}: ${list.find((one) => one.types === type)?.at}`).join(', ')})`,
        ]
  })
}

t.test('members of different types do not share a text', async (t) => {
  t.same(
    sharedTexts(tabledMembers(OPERATIONS)).filter(
      (text) => !SEVERAL_TYPES.includes(text.split(': ')[0] ?? ''),
    ),
    [],
  )
})

t.test('finds a text that an object and a string share', async (t) => {
  const planted = operation({
    tag: 'keys',
    success: {
      status: 200,
      body: Type.Object({ a: Type.Object({ name: Type.String() }), b: Type.Object({ name: Type.Number() }) }),
    },
  })
  t.match(sharedTexts(tabledMembers([planted])), [
    /^name: Name of the key\. \(number: .*b\.name, string: .*a\.name\)$/,
  ])
})

const ROLE_OF = (path: RegExp): readonly unknown[] => [
  ...new Set(
    membersBelow(document)
      .filter((member) => path.test(member.path))
      .map(({ schema }) => descriptionOf(schema)),
  ),
]

t.test('the text of a member depends on its place, not only on its name', async (t) => {
  t.same(ROLE_OF(/ChatCreateBody.*messages.*\/role$/), ['Author of the message.'])
  t.same(ROLE_OF(/ScimCreateMappingBody.*\/role$/), ['Role that members of the group get in the workspace.'])
  t.same(ROLE_OF(/ChatCreateAnswer\/provider$/), ['Slug of the provider that answered.'])
  t.same(ROLE_OF(/ChatCreateBody\/provider$/), [
    'Rules for the endpoints of the call: which may serve it, and in which order they are tried.',
  ])
  t.same(ROLE_OF(/ChatCreateAnswer.*message\/reasoning$/), [
    'Reasoning text of the model; null if there is no reasoning.',
  ])
  t.same(ROLE_OF(/ModelsGetAnswer.*data\/reasoning$/), [
    'Reasoning support of the model; null when the model does not reason.',
  ])
})

/** Rules of the contract by their numbers: `C24`, `B2.4`, `§4.3`. RFCs and names of models have none. */
const RULE_NUMBER = /\b(?:[CDEFJ]\d{1,2}|B\d{1,2}\.\d{1,2})\b|(?<!RFC \d+ )§/

t.test('no text that users see contains a rule number', async (t) => {
  t.match('provider. D26.', RULE_NUMBER)
  const texts = [
    ...membersBelow(document).map(({ schema }) => descriptionOf(schema) ?? ''),
    ...parametersBelow(document).map(({ description = '' }) => description),
    ...OPERATIONS.flatMap(({ summary, description = '', success }) => [
      summary,
      description,
      ...Object.values(success.headers ?? {}),
    ]),
    ...Object.values(FAILURES).map(({ text }) => text),
    ...Object.values(TAGS).map(({ text }) => text),
  ]
  t.same(
    texts.filter((text) => RULE_NUMBER.test(text)),
    [],
  )
})

t.test(
  'the description in a schema wins, then the text for its owner and place, then the text for its name',
  async (t) => {
    const shape = Type.Object({
      name: Type.String({ description: 'Own.' }),
      slug: Type.Union([Type.Null(), Type.String({ description: 'Of the one alternative.' })]),
      id: Type.Union([Type.Integer(), Type.String({ description: 'Of one of two.' })]),
      provider: Type.Object({ sort: Type.String() }),
      has_more: Type.Boolean(),
    })
    const place = { subject: 'inference', operation: 'chat.create', side: 'answer' } as const
    const of = (side: 'body' | 'answer'): unknown =>
      Object.fromEntries(
        membersBelow(plain(described(shape, { ...place, side }))).map(({ path, schema }) => [
          path,
          descriptionOf(schema),
        ]),
      )
    t.match(of('answer'), {
      '/name': 'Own.',
      '/slug': 'Of the one alternative.',
      '/provider': CALL_TEXTS['answer:provider'],
      '/provider/sort': CALL_TEXTS['provider.sort'],
      '/has_more': COMMON_TEXTS['has_more'],
    })
    t.match(of('body'), { '/provider': CALL_TEXTS['body:provider'] })
  },
)
