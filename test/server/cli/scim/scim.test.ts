import t from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { NAME_CHARS_MAX } from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { run } from '../../../../src/server/cli/run.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

type Tap = Parameters<typeof openTestDatabase>[0]

interface Stated {
  readonly code: number | null
  readonly text: string
  readonly out: Readonly<Record<string, unknown>>
  readonly error: string
}

/** `sluice …` over a database of the test's own. */
async function installation(t: Tap): Promise<(...args: string[]) => Promise<Stated>> {
  const { url } = await openTestDatabase(t, 'migrated')
  const dataDir = temporaryFolder(t, 'cli')
  return async (...given) => {
    const args = given.length === 1 ? (given[0] ?? '').split(' ') : given
    const settings = { DATABASE_URL: url, SLUICE_DATA: dataDir }
    const { code, stdout: text, stderr: error } = await runVerb(settings, args)
    return {
      code,
      text,
      error,
      out: args.includes('--json') && text !== '' ? (JSON.parse(text) as Stated['out']) : {},
    }
  }
}

t.test('creates a token, lists it without its value, and revokes it', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const made = await sluice('scim tokens create --name Okta --expires 2099-01-01T00:00:00Z --json')
  const { token, id } = made.out
  t.match(made.out, {
    token: /^sk-sluice-scim-v1-/,
    name: 'Okta',
    expires_at: '2099-01-01T00:00:00.000Z',
    created_at: /^20/,
  })
  const listed = await sluice('scim tokens list --organization Acme --json')
  t.match(listed.out, {
    data: [{ id, name: 'Okta', label: /^sk-sluice-scim-v1-.{3}\.\.\..{3}$/, hash: hashOfKey(String(token)) }],
  })
  t.notMatch(listed.text, String(token))
  t.match((await sluice('keys list --json')).out, { data: [] }, 'it is no API key')
  t.match(await sluice(`scim tokens revoke ${String(id)} --json`), {
    code: 0,
    out: { id, revoked: true },
  })
  t.match((await sluice('scim tokens list --json')).out, { data: [] })
  const audit = await sluice('audit list --json')
  t.match(
    audit.text,
    /cli\.scim-tokens-create[^]*cli\.scim-tokens-revoke|cli\.scim-tokens-revoke[^]*cli\.scim-tokens-create/,
  )
  t.notMatch(audit.text, String(token))
})

t.test('in text output the token has a line of its own, and the list is a table', async (t) => {
  const sluice = await installation(t)
  await sluice('organizations create --name Acme')
  const { text } = await sluice('scim tokens create --name Entra')
  t.match(text, /^sk-sluice-scim-v1-\S{43}\nid \S{36}\nThe token is not shown again\.\n$/)
  t.match(
    (await sluice('scim tokens list')).text,
    /^ID +NAME +TOKEN +CREATED +EXPIRES +HASH\n\S{36} +Entra +sk-\S+ +\S+Z +never +[0-9a-f]{64}\n$/,
  )
})

t.test('with several organizations, `scim tokens create` requires --organization', async (t) => {
  const sluice = await installation(t)
  for (const name of ['One', 'Two']) await sluice(`organizations create --name ${name}`)
  t.match(await sluice('scim tokens create --name x'), {
    code: 1,
    error: /Several organizations match/,
  })
  t.match(await sluice('scim tokens create --name x --organization Three'), {
    code: 1,
    error: /no such organization/,
  })
  const made = await sluice('scim tokens create --name x --organization Two --json')
  t.match((await sluice('scim tokens list --organization One --json')).out, { data: [] })
  t.match((await sluice('scim tokens list --json')).out, { data: [{ id: made.out['id'] }] })
  t.match(await sluice('scim tokens revoke nothing'), { code: 1, error: /no such SCIM token/ })
})

for (const [what, args] of [
  ['a token without a name', ['create']],
  ['an empty name', ['create', '--name', ' ']],
  ['a long name', ['create', '--name', 'é'.repeat(NAME_CHARS_MAX + 1)]],
  ['an instant that has passed', ['create', '--name', 'x', '--expires', '2020-01-01T00:00:00Z']],
  ['a revocation of nothing', ['revoke']],
] as const) {
  t.test(`${what} is bad usage: exit code 2`, async (t) => {
    t.capture(process.stderr, 'write')
    t.equal(await run(['scim', 'tokens', ...args]), 2)
  })
}
