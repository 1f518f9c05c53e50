import { Compile } from 'typebox/compile'
import t from 'tap'
import {
  SECRET_HOSTS_MAX,
  SECRET_NAME_CHARS_MAX,
  SECRET_VALUE_CHARS_MAX,
  SECRETS_COPIED_MAX,
  SECRETS_OFFSET_MAX,
  SECRETS_PAGE_MAX,
  VAULT_BODY_BYTES_MAX,
} from '../../src/schemas/vault/vault-limits.ts'
import {
  CopySecretsBody,
  SecretBody,
  SecretPageQuery,
  SecretParams,
  isSecretName,
} from '../../src/schemas/vault/vault.ts'

const isBody = (body: unknown): boolean => Compile(SecretBody).Check(body)
const isPage = (page: unknown): boolean => Compile(SecretPageQuery).Check(page)
const hosts = ['a.example']

t.test(
  'a name is 1 to 255 lower-case letters, digits and single underscores, and begins with a letter',
  async (t) => {
    const good = ['a', 'a1', 'a_b', 'github_token_2', 'a'.repeat(SECRET_NAME_CHARS_MAX)]
    const bad = [
      '',
      'A',
      '1a',
      '_a',
      'a_',
      'a__b',
      'a-b',
      'a.b',
      'a b',
      'a\n',
      'é',
      'a'.repeat(SECRET_NAME_CHARS_MAX + 1),
      '..',
      'a/b',
    ]
    for (const name of good) t.ok(isSecretName(name) && Compile(SecretParams).Check({ name }), name)
    for (const name of bad)
      t.notOk(isSecretName(name) || Compile(SecretParams).Check({ name }), JSON.stringify(name))
  },
)

t.test('a value has 1 to 65,536 characters, counted as code points', async (t) => {
  for (const one of ['a', 'é', '𝄞', '\u0000']) {
    t.ok(isBody({ hosts, value: one.repeat(SECRET_VALUE_CHARS_MAX) }), JSON.stringify(one))
    t.notOk(isBody({ hosts, value: one.repeat(SECRET_VALUE_CHARS_MAX + 1) }), JSON.stringify(one))
  }
  t.notOk(isBody({ hosts, value: '' }))
})

t.test('the longest value fits into the largest body, even if every character is escaped', async (t) => {
  t.ok(
    Buffer.byteLength(JSON.stringify({ hosts, value: '\u0001'.repeat(SECRET_VALUE_CHARS_MAX) })) <=
      VAULT_BODY_BYTES_MAX,
  )
})

t.test('a secret has 1 to 100 hosts, each a text', async (t) => {
  const many = (count: number): unknown => ({
    hosts: Array.from({ length: count }, () => 'a.example'),
    value: 'v',
  })
  t.same(
    [0, 1, SECRET_HOSTS_MAX, SECRET_HOSTS_MAX + 1].map((count) => isBody(many(count))),
    [false, true, true, false],
  )
  for (const wrong of ['a.example', [1], [null], [['a.example']], { 0: 'a.example' }, [''], null])
    t.notOk(isBody({ hosts: wrong, value: 'v' }))
})

t.test('a body with any other member is refused', async (t) => {
  t.notOk(isBody({ hosts, value: 'v', created_at: 'now' }))
  t.notOk(Compile(CopySecretsBody).Check({ names: ['a'], hosts }))
})

t.test('a copy has 1 to 100 names', async (t) => {
  const names = (count: number): unknown => ({ names: Array.from({ length: count }, (_, nth) => `n${nth}`) })
  t.same(
    [0, 1, SECRETS_COPIED_MAX, SECRETS_COPIED_MAX + 1].map((count) =>
      Compile(CopySecretsBody).Check(names(count)),
    ),
    [false, true, true, false],
  )
})

t.test('a page has 1 to 100 secrets and an offset of 0 to 10,000', async (t) => {
  t.same(
    [0, 1, SECRETS_PAGE_MAX, SECRETS_PAGE_MAX + 1].map((limit) => isPage({ limit })),
    [false, true, true, false],
  )
  t.same(
    [-1, 0, SECRETS_OFFSET_MAX, SECRETS_OFFSET_MAX + 1].map((offset) => isPage({ offset })),
    [false, true, true, false],
  )
})
