import fc from 'fast-check'
import t from 'tap'
import { ENTERPRISE_SCHEMA, USER_SCHEMA } from '../../../../src/schemas/scim/scim-attributes.ts'
import type { ScimUser } from '../../../../src/server/ports/scim/scim.ts'
import { must } from '../../../support/must.ts'
import { EVERYTHING, openScimStand } from '../../../support/scim/scim.ts'
import {
  SCIM_FILTER_CHARS_MAX,
  SCIM_FILTER_NESTING_MAX,
  SCIM_FILTER_TERMS_MAX,
} from '../../../../src/schemas/scim/scim-filters.ts'

const CASELESS = new Map<string, (user: ScimUser) => unknown>([
  ['userName', (user) => user.userName],
  ['displayName', (user) => user.displayName],
  ['title', (user) => user.attributes['title']],
  ['NAME.familyname', (user) => (user.attributes['name'] as { familyName?: string } | undefined)?.familyName],
  [
    `${ENTERPRISE_SCHEMA}:department`,
    (user) => (user.attributes[ENTERPRISE_SCHEMA] as { department?: string } | undefined)?.department,
  ],
])

interface Email {
  readonly value: string
  readonly type?: string
}

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
type Test = (user: ScimUser) => boolean
type Asked = readonly [string, Test]

/** Result of an operator for two texts. A missing value differs from all, and matches nothing else. */
function compared(op: (typeof OPERATORS)[number], have: unknown, wanted: string): boolean {
  if (typeof have !== 'string') return op === 'ne'
  switch (op) {
    case 'eq':
      return have === wanted
    case 'ne':
      return have !== wanted
    case 'co':
      return have.includes(wanted)
    case 'sw':
      return have.startsWith(wanted)
    case 'ew':
      return have.endsWith(wanted)
    case 'gt':
      return have > wanted
    case 'ge':
      return have >= wanted
    case 'lt':
      return have < wanted
    case 'le':
      return have <= wanted
  }
}

const word = fc.constantFrom(
  '',
  'a',
  'A',
  'b',
  'ab',
  'Ba',
  'a"b',
  'a\\b',
  "a'b",
  '%',
  'a_',
  'or',
  'not (',
  'a.b',
)
const lower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)
const operator = fc.constantFrom(...OPERATORS)

const caselessTerm: fc.Arbitrary<Asked> = fc
  .tuple(fc.constantFrom(...CASELESS), operator, word)
  .map(([[name, read], op, value]) => [
    `${name} ${op} ${JSON.stringify(value)}`,
    (user) => compared(op, lower(read(user)), value.toLowerCase()),
  ])
const exactTerm: fc.Arbitrary<Asked> = fc
  .tuple(operator, word)
  .map(([op, value]) => [
    `externalId ${op} ${JSON.stringify(value)}`,
    (user) => compared(op, user.externalId, value),
  ])
const presentTerm: fc.Arbitrary<Asked> = fc
  .constantFrom(...CASELESS)
  .map(([name, read]) => [`${name} pr`, (user) => (read(user) ?? '') !== ''])
const nullTerm: fc.Arbitrary<Asked> = fc
  .constantFrom(...CASELESS)
  .map(([name, read]) => [`${name} eq null`, (user) => (read(user) ?? '') === ''])
const activeTerm: fc.Arbitrary<Asked> = fc
  .tuple(fc.constantFrom('true', '"False"'), fc.boolean())
  .map(([value, isNot]) => [
    `active ${isNot ? 'NE' : 'eq'} ${value}`,
    (user) => (user.isActive === (value === 'true')) !== isNot,
  ])
const emailTerm: fc.Arbitrary<Asked> = fc
  .tuple(
    operator,
    word,
    fc.constantFrom('emails', 'emails.value', 'EMAILS[value'),
    fc.constantFrom('work', 'home'),
  )
  .map(([op, value, form, type]) => {
    const isPath = form.includes('[')
    const text = `${form} ${op} ${JSON.stringify(value)}${isPath ? ` and type eq "${type}"]` : ''}`
    const emailsOf = (user: ScimUser) => (user.attributes['emails'] ?? []) as readonly Email[]
    return [
      text,
      (user) =>
        emailsOf(user).some(
          (email) =>
            compared(op, lower(email.value), value.toLowerCase()) && (!isPath || email.type === type),
        ),
    ]
  })

const { filter } = fc.letrec<{ filter: Asked }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    caselessTerm,
    exactTerm,
    presentTerm,
    nullTerm,
    activeTerm,
    emailTerm,
    fc
      .tuple(tie('filter'), fc.constantFrom('and', 'OR'), tie('filter'))
      .map(([[left, isLeft], op, [right, isRight]]): Asked => [
        `(${left}) ${op} (${right})`,
        (user) => (op === 'and' ? isLeft(user) && isRight(user) : isLeft(user) || isRight(user)),
      ]),
    tie('filter').map(([inner, isInner]): Asked => [`not (${inner})`, (user) => !isInner(user)]),
  ),
}))

t.test('a filter finds the same users as an oracle in memory', async (t) => {
  const { users, user, organizationId } = await openScimStand(t)
  const some = <T>(of: readonly T[], n: number): T | undefined => of[n % of.length]
  const texts = ['a', 'AB', undefined, 'a"b', 'a\\b', '%', undefined, "a'b", 'or', 'a.b', 'Ba']
  const all: ScimUser[] = []
  for (let n = 0; n < 60; n++) {
    const [title, familyName, department, value] = [
      some(texts, n),
      some(texts, n * 3),
      some(texts, n * 5 + 1),
      some(texts, n * 7),
    ]
    all.push(
      await user({
        userName: `${some(texts, n * 2) ?? 'b'}${n}`,
        displayName: some(texts, n + 3) ?? null,
        externalId: some(texts, n + 5) ?? null,
        isActive: n % 3 !== 0,
        attributes: {
          ...(title !== undefined && { title }),
          ...(familyName !== undefined && { name: { familyName } }),
          ...(department !== undefined && { [ENTERPRISE_SCHEMA]: { department } }),
          ...(value !== undefined && {
            emails: [{ value, type: n % 2 === 0 ? 'work' : 'home' }, { value: `${value}2` }],
          }),
        },
      }),
    )
  }
  await fc.assert(
    fc.asyncProperty(filter, async ([text, isFound]) => {
      const found = must(await users.list(organizationId, { ...EVERYTHING, filter: text }))
      const expected = all.filter(isFound).map(({ userName }) => userName)
      if (JSON.stringify(found.resources.map(({ userName }) => userName)) !== JSON.stringify(expected))
        throw new Error(`differs: ${text}`)
      if (found.totalResults !== expected.length) throw new Error(`another total: ${text}`)
    }),
    { numRuns: 300 },
  )
  t.pass()
})

t.test('filters can search by identifier, time and group member', async (t) => {
  const { users, groups, user, group, organizationId } = await openScimStand(t)
  const [ann, bob] = [await user({ userName: 'ann' }), await user({ userName: 'bob' })]
  const [one] = [await group('one', [ann.id]), await group('two')]
  const names = async (filter: string) =>
    must(await users.list(organizationId, { ...EVERYTHING, filter })).resources.map(
      ({ userName }) => userName,
    )
  const groupNames = async (filter: string) =>
    must(await groups.list(organizationId, { ...EVERYTHING, filter }, false)).resources.map(
      (row) => row.displayName,
    )
  t.same(await names(`id eq "${ann.id}"`), ['ann'])
  t.same(await names('id eq "nobody"'), [])
  t.same(await names(`${USER_SCHEMA}:userName eq "ANN" or id ne "${bob.id}"`), ['ann'])
  const at = bob.createdAt.toISOString()
  t.same(await names(`meta.created ge "${at}" and meta.created le "${at}" and userName sw "b"`), ['bob'])
  t.same(await names('meta.lastModified gt "2100-01-01T00:00:00+01:00"'), [])
  t.same(await groupNames(`members[value eq "${ann.id}"]`), ['one'])
  t.same(await groupNames(`members eq "${ann.id}" or members.value eq "${bob.id}"`), ['one'])
  t.same(await groupNames('members pr'), ['one'])
  t.same(await groupNames('not (members pr) and displayName eq "TWO"'), ['two'])
  t.same(await groupNames(`id eq "${one?.id}" and externalId eq null`), ['one'])
  await user({ userName: 'D\\user' })
  for (const literal of ['"d\\user"', '"D\\\\USER"'])
    t.same(await names(`userName eq ${literal}`), ['D\\user'])
})

const tooDeep = `${'('.repeat(SCIM_FILTER_NESTING_MAX + 1)}title pr${')'.repeat(SCIM_FILTER_NESTING_MAX + 1)}`

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['shoeSize eq 5', /shoeSize/],
  ['name eq "x"', /name/],
  ['emails.shoe eq "x"', /emails\.shoe/],
  ['password eq "x"', /password/],
  ['title[type eq "x"]', /title/],
  ['emails[shoe eq "x"]', /emails\.shoe/],
  ['constructor eq "a"', /constructor/],
  ['active eq "maybe"', /active/],
  ['active gt true', /active/],
  ['userName eq 5', /userName/],
  ['userName gt null', /userName/],
  ['meta.created co "2020"', /meta\.created/],
  ['meta.created gt "yesterday"', /meta\.created/],
  ['meta.created gt "0000-01-01T00:00:00Z"', /meta\.created/],
  ['meta.created lt "9999-12-31T23:59:59-00:01"', /meta\.created/],
  ['userName eq', /well-formed/],
  ['userName', /well-formed/],
  ['', /well-formed/],
  ['userName eq "a" constructor userName eq "b"', /well-formed/],
  ['userName eq "a" ; DROP TABLE users', /well-formed/],
  ['userName eq "\\u0000"', /U\+0000/],
  [`userName eq "${'\n'.repeat(40)}`, /control/],
  [`userName eq "${'a'.repeat(40)}`, /unterminated/],
  [`userName eq "${'a'.repeat(SCIM_FILTER_CHARS_MAX)}"`, /characters/],
  [tooDeep, /deeper/],
  [`${'not '.repeat(SCIM_FILTER_NESTING_MAX + 1)}title pr`, /deeper/],
  [Array.from({ length: SCIM_FILTER_TERMS_MAX + 1 }, () => 'title pr').join(' or '), /comparisons/],
]

t.test('an invalid filter is refused, and the error names the attribute', async (t) => {
  const { users, organizationId } = await openScimStand(t)
  for (const [filter, detail] of WRONG) {
    const answer = await users.list(organizationId, { ...EVERYTHING, filter })
    t.match(answer, { failure: { name: 'scim_filter_invalid', detail } }, filter.slice(0, 60))
  }
})

t.test('the longest filters that are allowed are answered', async (t) => {
  const { users, organizationId } = await openScimStand(t)
  const deep = `${'('.repeat(SCIM_FILTER_NESTING_MAX)}title pr${')'.repeat(SCIM_FILTER_NESTING_MAX)}`
  const wide = Array.from({ length: SCIM_FILTER_TERMS_MAX }, () => 'title eq "a"').join(' or ')
  for (const filter of [deep, wide])
    t.match(await users.list(organizationId, { ...EVERYTHING, filter }), { ok: true })
})

t.test('filters do not accumulate in the memory of Postgres', async (t) => {
  const { store, users, groups, organizationId } = await openScimStand(t, 1)
  const prepared = async () =>
    (
      await store.sql<{ name: string }[]>`
    SELECT name FROM pg_prepared_statements WHERE statement LIKE '%starts_with%' OR statement LIKE '%strpos%'`
    ).length
  for (const filter of ['displayName co "a"', 'displayName sw "a" or displayName co "b"']) {
    for (const sortBy of [null, 'displayName']) {
      t.ok((await users.list(organizationId, { ...EVERYTHING, filter, sortBy })).ok)
      for (const hasMembers of [true, false])
        t.ok((await groups.list(organizationId, { ...EVERYTHING, filter, sortBy }, hasMembers)).ok)
    }
  }
  // The statement that asks names them too.
  t.equal(await prepared(), 1)
})
