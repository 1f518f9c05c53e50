import t from 'tap'
import { ENTERPRISE_SCHEMA, USER_SCHEMA } from '../../../../src/schemas/scim/scim-attributes.ts'
import { SCIM_PATCH_OPERATIONS_MAX, SCIM_VALUES_MAX } from '../../../../src/schemas/scim/scim-limits.ts'
import { SCIM_PATCH_READ_AT_ONCE, patchStepsOf } from '../../../../src/server/operations/scim/patch-steps.ts'
import { SCIM_PATCH_COMPARISONS_MAX, patchedUser } from '../../../../src/server/operations/scim/patch-user.ts'
import type { ScimUser } from '../../../../src/server/ports/scim/scim.ts'

const WORK = { type: 'work', value: 'work@b.c', primary: true }
const HOME = { type: 'home', value: 'home.a:b@b.c' }
const ANN: ScimUser = {
  id: '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9',
  userName: 'ann',
  externalId: null,
  displayName: 'Ann',
  isActive: true,
  email: null,
  groups: [],
  version: 1,
  attributes: {
    title: 't',
    name: { givenName: 'A', familyName: 'B' },
    emails: [WORK, HOME],
    'urn:x:y:1.0:Ext': { Own: 1 },
  },
  createdAt: new Date(0),
  updatedAt: new Date(0),
}

async function patched(...operations: readonly unknown[]) {
  const steps = await patchStepsOf({ Operations: operations })
  return steps.ok ? patchedUser(ANN, steps.value) : steps
}

const CHANGES: readonly (readonly [string, readonly object[], object])[] = [
  ['a name of another case', [{ op: 'REPLACE', path: 'TITLE', value: 'x' }], { attributes: { title: 'x' } }],
  [
    'its own schema before a path',
    [{ op: 'replace', path: `${USER_SCHEMA}:name.givenName`, value: 'x' }],
    { attributes: { name: { givenName: 'x', familyName: 'B' } } },
  ],
  [
    'a literal with a dot and a colon',
    [{ op: 'replace', path: 'emails[value eq "home.a:b@b.c"].type', value: 'other' }],
    { attributes: { emails: [WORK, { ...HOME, type: 'other' }] } },
  ],
  [
    'one value of several is removed',
    [{ op: 'remove', path: 'emails[type eq "work"]' }],
    { attributes: { emails: [HOME] } },
  ],
  [
    'a value is removed by itself',
    [{ op: 'remove', path: 'emails', value: [HOME] }],
    { attributes: { emails: [WORK] } },
  ],
  [
    'what is not there is removed',
    [
      { op: 'remove', path: 'emails[type eq "x"]' },
      { op: 'remove', path: 'nickName' },
      { op: 'remove', path: 'x.y' },
    ],
    ANN,
  ],
  [
    'a value more',
    [{ op: 'add', path: 'emails', value: { type: 'other', value: 'o' } }],
    { attributes: { emails: [WORK, HOME, { type: 'other', value: 'o' }] } },
  ],
  ['the same value again', [{ op: 'add', path: 'emails', value: [WORK] }], ANN],
  [
    'the same value again, with a text as Entra sends it',
    [{ op: 'Add', path: 'emails', value: [{ ...WORK, primary: 'True' }] }],
    ANN,
  ],
  [
    'a value by itself is removed, with such a text',
    [{ op: 'Remove', path: 'emails', value: [{ ...WORK, primary: 'True' }] }],
    { attributes: { emails: [HOME] } },
  ],
  [
    'another primary one',
    [{ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' }],
    {
      attributes: {
        emails: [
          { ...WORK, primary: false },
          { ...HOME, primary: true },
        ],
      },
    },
  ],
  [
    'the primary one, named as Entra names it',
    [{ op: 'Replace', path: 'emails[primary eq "True"].value', value: 'n' }],
    { attributes: { emails: [{ ...WORK, value: 'n' }, HOME] } },
  ],
  [
    'a role and then more of the same, as Entra writes it',
    [
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'r' },
      { op: 'Add', path: 'roles[primary eq "True"].display', value: 'R' },
    ],
    { attributes: { roles: [{ primary: true, value: 'r', display: 'R' }] } },
  ],
  [
    'a manager into another, as Entra adds one',
    [
      { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: { value: 'm', displayName: 'M' } },
      { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: 'n' },
    ],
    { attributes: { [ENTERPRISE_SCHEMA]: { manager: { value: 'n' } } } },
  ],
  [
    'a manager in a list',
    [
      { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: 'm' },
      { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: [{ $ref: 'Users/n', value: 'n' }] },
    ],
    { attributes: { [ENTERPRISE_SCHEMA]: { manager: { value: 'n' } } } },
  ],
  [
    'all values',
    [{ op: 'replace', path: 'emails', value: [{ value: 'only' }] }],
    { attributes: { emails: [{ value: 'only' }] } },
  ],
  [
    'a first value',
    [{ op: 'add', path: 'phoneNumbers', value: { value: '1' } }],
    { attributes: { phoneNumbers: [{ value: '1' }] } },
  ],
  [
    'a whole extension',
    [{ op: 'add', path: ENTERPRISE_SCHEMA, value: { Department: 'd' } }],
    { attributes: { [ENTERPRISE_SCHEMA]: { department: 'd' } } },
  ],
  [
    'an extension in a value',
    [{ op: 'add', value: { [ENTERPRISE_SCHEMA]: { manager: 'm' } } }],
    { attributes: { [ENTERPRISE_SCHEMA]: { manager: { value: 'm' } } } },
  ],
  [
    'an unknown extension',
    [{ op: 'replace', path: 'urn:x:y:1.0:Ext:own', value: 2 }],
    { attributes: { 'urn:x:y:1.0:Ext': { Own: 2 } } },
  ],
  [
    'a boolean as the value of a list',
    [{ op: 'Replace', path: 'active', value: [{ $ref: null, value: 'False' }] }],
    { isActive: false },
  ],
  [
    'its own id, schemas and a password',
    [{ op: 'replace', value: { id: ANN.id, schemas: [], password: 'x', active: false } }],
    { isActive: false },
  ],
  [
    'a name that goes',
    [
      { op: 'remove', path: 'displayName' },
      { op: 'remove', path: 'title', value: 't' },
    ],
    { displayName: null },
  ],
  [
    'one name of several',
    [{ op: 'remove', path: 'name.familyName' }],
    { attributes: { name: { givenName: 'A' } } },
  ],
]

for (const [what, operations, expected] of CHANGES) {
  t.test(`a PATCH changes ${what}`, async (t) => {
    const { userName, externalId, displayName, isActive, attributes } = { ...ANN, ...expected }
    const isWhole = expected === ANN || 'attributes' in expected === false || what.includes('remove')
    const value = {
      userName,
      externalId,
      displayName,
      isActive,
      attributes: { ...ANN.attributes, ...attributes },
    }
    if (what === 'a name that goes') Reflect.deleteProperty(value.attributes, 'title')
    t.same(await patched(...operations), { ok: true, value }, isWhole ? 'the whole' : 'what changed')
  })
}

const REFUSED: readonly (readonly [string, object])[] = [
  ['scim_immutable', { op: 'replace', path: 'id', value: ANN.id }],
  ['scim_immutable', { op: 'remove', path: 'groups' }],
  ['scim_immutable', { op: 'add', value: { id: 'x' } }],
  ['scim_path_invalid', { op: 'add', path: 'a b', value: 1 }],
  ['scim_path_invalid', { op: 'add', path: 'emails[', value: 1 }],
  ['scim_path_invalid', { op: 'add', path: 'emails[type eq].value', value: 1 }],
  ['scim_path_invalid', { op: 'add', path: 5, value: 1 }],
  ['scim_path_invalid', { op: 'add', path: `emails[type eq "${'\n'.repeat(40)}].value`, value: 1 }],
  ['scim_path_invalid', { op: 'add', path: 'constructor', value: {} }],
  ['scim_path_invalid', { op: 'add', path: 'name.constructor', value: 1 }],
  ['scim_target_missing', { op: 'remove' }],
  ['scim_target_missing', { op: 'replace', path: 'emails[type eq "x"]', value: { value: 'y' } }],
  ['scim_target_missing', { op: 'add', path: 'emails[type sw "x"].value', value: 'y' }],
  ['scim_value_invalid', { op: 'add', path: 'title' }],
  ['scim_value_invalid', { op: 'add', value: 'x' }],
  ['scim_value_invalid', { op: 'x', value: {} }],
  ['scim_value_invalid', { op: 'replace', path: 'userName', value: null }],
  ['scim_value_invalid', { op: 'replace', path: 'active', value: 'maybe' }],
  ['scim_value_invalid', { op: 'add', path: 'name', value: 'x' }],
  ['scim_value_invalid', { op: 'add', path: 'title', value: 'x\0' }],
]

t.test('refuses an invalid PATCH', async (t) => {
  for (const [name, operation] of REFUSED)
    t.match(
      await patched(operation),
      { ok: false, failure: { name } },
      JSON.stringify(operation).slice(0, 80),
    )
  t.match(await patchStepsOf({}), { failure: { name: 'scim_value_invalid' } })
  const many = Array.from({ length: SCIM_PATCH_OPERATIONS_MAX + 1 }, () => ({
    op: 'replace',
    path: 'title',
    value: 'x',
  }))
  t.match(await patched(...many), { failure: { name: 'scim_value_invalid' } })
  t.match(await patched(...many.slice(1)), { ok: true })
})

t.test('a refusal names the invalid operation', async (t) => {
  const fine = { op: 'replace', path: 'title', value: 'x' }
  const wrong: readonly object[] = [
    { op: 'x' },
    { op: 'add', path: 'a b', value: 1 },
    { op: 'replace', path: 'id', value: 'x' },
    { op: 'replace', path: 'emails[type eq "x"]', value: {} },
  ]
  for (const operation of wrong)
    t.match(
      await patched(fine, operation, fine),
      { failure: { detail: /Operations\[1\]/ } },
      JSON.stringify(operation),
    )
})

t.test('no path and no name gives access to the prototype of objects', async (t) => {
  const hostile = [
    { op: 'add', path: 'constructor.prototype', value: { polluted: 1 } },
    { op: 'add', path: '__proto__.polluted', value: 1 },
    { op: 'add', path: 'name', value: { 'constructor.prototype.polluted': 1 } },
    { op: 'add', value: { 'constructor.prototype.polluted': 1 } },
    { op: 'add', value: { 'urn:a:constructor:prototype': { polluted: 1 } } },
    { op: 'add', path: 'urn:constructor:prototype.polluted', value: 1 },
    { op: 'add', path: 'toString.polluted', value: 1 },
    { op: 'add', value: JSON.parse('{"__proto__":{"polluted":1}}') as object },
    { op: 'add', path: 'emails[constructor eq "x"].value', value: 1 },
    { op: 'add', path: 'emails[__proto__ eq "x"].polluted', value: 1 },
    { op: 'add', path: 'title', value: { 'constructor.prototype': { polluted: 1 } } },
    { op: 'replace', path: 'emails[type eq "work"].constructor', value: 1 },
  ]
  for (const operation of hostile) {
    await patched(operation)
    t.equal(({} as Record<string, unknown>)['polluted'], undefined, JSON.stringify(operation))
    t.equal((Object as unknown as Record<string, unknown>)['polluted'], undefined)
  }
})

t.test('lists compared value by value have a maximum length, in whichever way they are built', async (t) => {
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)
  const kept = await patched({ op: 'add', path: 'roles', value: numbers(0, SCIM_VALUES_MAX) })
  t.ok(kept.ok, 'as many as there may be')
  const half = SCIM_VALUES_MAX / 2
  for (const operations of [
    [{ op: 'add', path: 'roles', value: numbers(0, SCIM_VALUES_MAX + 1) }],
    [
      { op: 'add', path: 'roles', value: numbers(0, half) },
      { op: 'remove', path: 'roles', value: numbers(0, half + 1) },
    ],
    [{ op: 'add', value: { x: { y: numbers(0, SCIM_VALUES_MAX + 1) } } }],
    [{ op: 'add', path: 'emails[type eq "work"].x', value: numbers(0, SCIM_VALUES_MAX + 1) }],
    [
      { op: 'add', path: 'roles', value: numbers(0, SCIM_VALUES_MAX) },
      { op: 'add', path: 'roles', value: SCIM_VALUES_MAX },
    ],
    // Of a list within each value of another one.
    [
      { op: 'add', path: 'roles', value: numbers(0, half).map((value) => ({ value })) },
      { op: 'add', path: 'roles.x', value: [1, 2] },
      { op: 'add', path: 'roles.x', value: [3] },
    ],
  ])
    t.match(
      await patched(...operations),
      { failure: { name: 'scim_value_invalid', detail: /more than 500 values/ } },
      JSON.stringify(operations).slice(0, 80),
    )
})

t.test(
  'a PATCH with too many comparisons is refused at the operation that exceeds the maximum',
  async (t) => {
    const values = 100
    const emails = Array.from({ length: values }, (_, nth) => ({ type: 'other', value: `m${nth}@b.c` }))
    const fitting = SCIM_PATCH_COMPARISONS_MAX / values
    const many = (one: object, more = 1): readonly object[] =>
      Array.from({ length: fitting + more }, () => one)
    const single = { op: 'replace', path: 'emails[value eq "m7@b.c"].display', value: 'x' }
    const all = async (operations: readonly object[]) => {
      const steps = await patchStepsOf({ Operations: operations })
      return steps.ok ? patchedUser({ ...ANN, attributes: { emails } }, steps.value) : steps
    }
    const refused = {
      failure: {
        name: 'scim_value_invalid',
        detail: new RegExp(`more than ${SCIM_PATCH_COMPARISONS_MAX} .*Operations\\[${fitting}\\]`),
      },
    }
    t.match(await all(many(single, 0)), { ok: true })
    t.match(await all(many(single)), refused)
    t.match(await all(many({ op: 'add', path: 'emails', value: emails[3] })), refused)
    const terms = {
      ...single,
      path: 'emails[value eq "a" or value eq "b" or value eq "m7@b.c" or value eq "d"].display',
    }
    t.match(await all(many(terms, fitting / 4 + 1 - fitting)), { failure: { name: 'scim_value_invalid' } })
  },
)

t.test('the event loop keeps running while many operations are read', async (t) => {
  let turns = 0
  const count = (): void => void (turns++, (next = setImmediate(count)))
  let next = setImmediate(count)
  const filtered = (_: unknown, nth: number) => ({
    op: 'replace',
    path: `emails[value eq "${nth}"].type`,
    value: 'x',
  })
  t.match(await patchStepsOf({ Operations: Array.from({ length: SCIM_PATCH_OPERATIONS_MAX }, filtered) }), {
    ok: true,
  })
  clearImmediate(next)
  t.ok(turns >= SCIM_PATCH_OPERATIONS_MAX / SCIM_PATCH_READ_AT_ONCE - 1)
})
