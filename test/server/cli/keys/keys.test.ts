import t from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { run } from '../../../../src/server/cli/run.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

type Tap = Parameters<typeof openTestDatabase>[0]
type Verb = (...args: string[]) => Promise<Stated>

interface Stated {
  readonly code: number | null
  readonly out: Record<string, unknown>
  readonly error: string
}

/** `sluice LINE --json` over a database of the test's own. */
async function installation(t: Tap, kind: 'migrated' | 'empty' = 'migrated'): Promise<Verb> {
  return verbOver(t, (await openTestDatabase(t, kind)).url)
}

function verbOver(t: Tap, url: string): Verb {
  const dataDir = temporaryFolder(t, 'cli')
  return async (...given) => {
    const args = given.length === 1 ? (given[0] ?? '').split(' ') : given
    const settings = { DATABASE_URL: url, SLUICE_DATA: dataDir }
    const { code, stdout: out, stderr: error } = await runVerb(settings, [...args, '--json'])
    return { code, error, out: out === '' ? {} : (JSON.parse(out) as Record<string, unknown>) }
  }
}

t.test('warns about models that the catalogue lacks, but allows them', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const made = await sluice('keys create --name k --kind inference --allow-model sluice/* nowhere/*')
  t.match(made, { code: 0, error: /^warning: no model .* matches nowhere\/\* \(/ })
  t.same(made.out['allowed_models'], ['sluice/*', 'nowhere/*'])
  const { hash } = made.out
  const changed = await sluice(`keys update ${String(hash)} --allow-model sluice/echo-2`)
  t.match(changed, { code: 0, error: /^warning: no model .* matches sluice\/echo-2 \(/ })
  const free = await sluice(`keys update ${String(hash)} --allow-model none`)
  t.same([free.code, free.error, free.out['allowed_models']], [0, '', null])
})

t.test('a key is created, listed without its secret, and revoked', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const input = '--name first --kind inference --workspace default --rpm 600'
  const made = await sluice(`keys create ${input} --expires 2099-01-01T00:00:00Z`)
  const key = String(made.out['key'])
  t.match(made.out, {
    hash: hashOfKey(key),
    name: 'first',
    kind: 'inference',
    rate_limit_rpm: 600,
    expires_at: '2099-01-01T00:00:00.000Z',
  })
  const listed = await sluice('keys list')
  t.match(listed.out, { data: [{ hash: hashOfKey(key) }] })
  t.notMatch(JSON.stringify(listed.out), key)
  t.match(await sluice('keys', 'revoke', hashOfKey(key), '--wait'), {
    code: 0,
    out: { revoked: true, silent_fronts: 0 },
  })
  t.match((await sluice('keys list')).out, { data: [] })
})

/** A key with a limit of money, models of its own, and the people that it was made by and for. */
async function makeLimited(sluice: Verb): Promise<Stated> {
  return sluice(
    'keys create --name k --kind inference --limit 2.5 --limit-reset monthly --byok on ' +
      '--allow-model openai/* cohere/embed --creator ann --user u-1',
  )
}

t.test('a key can be given limits, changed, rotated and read', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const made = await makeLimited(sluice)
  const hash = String(made.out['hash'])
  t.match(made.out, {
    limit: 2.5,
    limit_remaining: 2.5,
    limit_reset: 'monthly',
    include_byok_in_limit: true,
    allowed_models: ['openai/*', 'cohere/embed'],
    creator_user_id: 'ann',
    external_user: 'u-1',
  })
  const changed = await sluice(
    `keys update ${hash} --limit none --limit-reset none --allow-model none --state off ` +
      '--rpm 60 --burst 5 --default-max-output 64 --parallel 3 --tpm 900',
  )
  t.match(changed.out, {
    limit: null,
    limit_reset: null,
    allowed_models: null,
    disabled: true,
    rate_limit_rpm: 60,
    rate_limit_burst: 5,
    max_parallel: 3,
    rate_limit_tpm: 900,
    default_max_output_tokens: 64,
    name: 'k',
  })
  t.same((await sluice(`keys get ${hash}`)).out, changed.out)
  const rotated = await sluice(`keys rotate ${hash} --overlap 60`)
  t.match(rotated.out, {
    key: /^sk-sluice-v1-/,
    name: 'k',
    disabled: true,
    previous: { hash, expires_at: /^20/ },
  })
  t.match((await sluice('keys list --workspace default')).out, {
    data: [{ hash: rotated.out['hash'] }, { hash }],
  })
  t.match(await sluice(`keys delete ${hash}`), { code: 0, out: { revoked: true } })
  for (const verb of ['get', 'rotate'])
    t.match(await sluice(`keys ${verb} ${hash}`), { code: 1, error: /no such API key/ })
})

t.test(
  '--scopes accepts blanks or commas; an update replaces scopes, a rotation keeps them, `none` removes them',
  async (t) => {
    const sluice = await installation(t)
    await sluice('organizations create --name Acme')
    const input = 'keys create --name k --kind inference'
    const made = await sluice(`${input} --scopes files:read,videos videos inference`)
    t.same(made.out['scopes'], ['files:read', 'videos', 'inference'])
    const hash = String(made.out['hash'])
    t.same((await sluice(`keys update ${hash} --scopes vault:use`)).out['scopes'], ['vault:use'])
    t.same((await sluice(`keys update ${hash} --name l`)).out['scopes'], ['vault:use'])
    const rotated = String((await sluice(`keys rotate ${hash}`)).out['hash'])
    t.same((await sluice(`keys get ${rotated}`)).out['scopes'], ['vault:use'])
    t.same((await sluice(`keys update ${rotated} --scopes none`)).out['scopes'], null)
    t.same((await sluice(input)).out['scopes'], null)
  },
)

t.test('several organizations in one installation are kept apart', async (t) => {
  const sluice = await installation(t)
  const one = (await sluice('organizations create --name One')).out
  const two = (await sluice('organizations create --name Two')).out
  t.match((await sluice('organizations list')).out, { data: [{ id: one['id'] }, { id: two['id'] }] })
  t.match(await sluice('keys create --name k --kind management'), {
    code: 1,
    error: /Several organizations match/,
  })
  t.match(await sluice('keys create --name k --kind inference --workspace default'), {
    code: 1,
    error: /--organization/,
  })
  const key = await sluice('keys create --name k --kind management --organization Two')
  t.match(key.out, { organization_id: two['id'], workspace_id: null })
})

t.test('an organization can have only one workspace with the same slug', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  t.match(await sluice('workspaces create --name Team --slug team'), {
    code: 0,
    out: { slug: 'team' },
  })
  t.match(await sluice('workspaces create --name Team --slug team'), {
    code: 1,
    error: /slug is already used/,
  })
  t.match((await sluice('workspaces list')).out, { data: [{ slug: 'default' }, { slug: 'team' }] })
})

t.test('keys list begins with the name of each key and ends with its hash', async (t) => {
  const { url } = await openTestDatabase(t)
  const sluice = verbOver(t, url)
  await sluice('organizations create --name Acme')
  const { hash } = (await sluice('keys create --name shop --kind inference')).out
  const settings = { DATABASE_URL: url, SLUICE_DATA: temporaryFolder(t, 'cli') }
  const { stdout } = await runVerb(settings, ['keys', 'list'])
  const [heads = '', row = ''] = stdout.split('\n')
  t.match(heads, /^NAME .* HASH$/)
  t.ok(row.startsWith('shop ') && row.endsWith(` ${String(hash)}`), row)
})

for (const [what, args] of [
  ['an empty name', ['organizations', 'create', '--name', ' ']],
  ['a name of 101 characters', ['organizations', 'create', '--name', 'é'.repeat(101)]],
  [
    'scopes of a management key',
    ['keys', 'create', '--name', 'k', '--kind', 'management', '--scopes', 'inference'],
  ],
  [
    'an instant without an offset',
    ['keys', 'create', '--name', 'k', '--kind', 'inference', '--expires', '2099-01-01T00:00:00'],
  ],
  [
    'an instant that has passed',
    ['keys', 'create', '--name', 'k', '--kind', 'inference', '--expires', '2020-01-01T00:00:00Z'],
  ],
  ['a kind that cannot be made here', ['keys', 'create', '--name', 'k', '--kind', 'intern']],
  [
    'a workspace for a management key',
    ['keys', 'create', '--name', 'k', '--kind', 'management', '--workspace', 'default'],
  ],
  ['a limit that is no amount', ['keys', 'create', '--name', 'k', '--kind', 'inference', '--limit', '1e3']],
  ['a change of nothing', ['keys', 'update', 'f'.repeat(64)]],
] as const) {
  t.test(`${what} is a usage error: exit code 2`, async (t) => {
    t.capture(process.stderr, 'write')
    t.equal(await run(args), 2)
  })
}

t.test('a burst above the limit, or without a limit, fails with the options that help', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const input = 'keys create --name k --kind inference'
  t.match(await sluice(`${input} --rpm 60 --burst 61`), {
    code: 1,
    error:
      /--burst exceeds the limit of 60 requests a minute, expected a whole number from 1 to 60, or a higher --rpm\./,
  })
  const made = await sluice(input)
  const hash = String(made.out['hash'])
  t.match(await sluice(`keys update ${hash} --burst 5`), {
    code: 1,
    error: /--burst requires a request limit, expected --rpm as well, or --burst none\./,
  })
  t.match(await sluice(`keys update ${hash} --rpm 60 --burst 60`), {
    code: 0,
    out: { rate_limit_burst: 60 },
  })
  t.match(await sluice(`keys update ${hash} --burst none`), {
    out: { rate_limit_rpm: 60, rate_limit_burst: null },
  })
})

t.test('an unknown key, workspace or organization fails with a reason: exit code 1', async (t) => {
  const sluice = await installation(t)
  t.match(await sluice('keys', 'revoke', 'f'.repeat(64)), { code: 1, error: /no such API key/ })
  t.match(await sluice('keys create --name k --kind inference'), {
    code: 1,
    error: /no such organization/,
  })
  await sluice('organizations create --name Acme')
  t.match(await sluice('keys create --name k --kind inference --workspace nope'), {
    code: 1,
    error: /no such workspace/,
  })
})

t.test('refuses a database that is not migrated: exit code 1', async (t) => {
  const sluice = await installation(t, 'empty')
  t.match(await sluice('keys list'), { code: 1, error: /not migrated yet/ })
})

t.test('reports an unreachable database in one sentence: exit code 1', async (t) => {
  const sluice = verbOver(t, 'postgres://nobody@127.0.0.1:1/none')
  const { code, error } = await sluice('keys list')
  t.equal(code, 1)
  t.same(JSON.parse(error), {
    error: 'failed',
    message: 'the database in DATABASE_URL, at 127.0.0.1:1, cannot be reached (ECONNREFUSED)',
  })
})
