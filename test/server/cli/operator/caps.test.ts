/** Caps of organizations by the command line, and those of the installation by its settings. C33. */
import t, { type Test } from 'tap'
import { CAP_MAX, CAPPED, CAPS_DEFAULT } from '../../../../src/schemas/operator/caps.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(300_000)

async function stand(t: Test, own: Readonly<Record<string, string>> = {}) {
  const { settings, ...opened } = await openInstallation(
    t,
    { SLUICE_ROOT_KEY: 'a'.repeat(64), ...own },
    'Acme',
  )
  const run = (args: readonly string[], input = '') => runVerb(settings, args, input)
  return { ...opened, run }
}

const full = (what: string, limit: number) => ({
  code: 1,
  stderr: `The organization may have at most ${limit} ${what}; this request would exceed the limit.\n`,
})

t.test('organizations caps shows use and caps, changes the named caps, and resets them', async (t) => {
  const { store, organization, run, json } = await stand(t)
  const shown = await json('organizations', 'caps', 'Acme')
  t.match(shown, {
    organization_id: organization.id,
    workspaces: { cap: 100, used: 1, is_own: false },
    secrets: { cap: 100_000, used: 0 },
  })
  const changed = await json('organizations', 'caps', organization.id, '--workspaces', '1', '--api-keys', '0')
  t.match(changed, {
    workspaces: { cap: 1, is_own: true },
    api_keys: { cap: 0, is_own: true },
    interns: { is_own: false },
  })
  const by = {
    operation: 'cli.organizations-caps',
    before: { caps: {} },
    after: { caps: { workspaces: 1, api_keys: 0 } },
  }
  t.match((await auditOf(store)).at(-1), by)
  t.match(
    (await run(['organizations', 'caps', 'Acme'])).stdout,
    /^workspaces +1 +1 +own$[^]*^interns +0 +10000 +installation$/m,
  )
  t.match(await run(['workspaces', 'create', '--name', 'w', '--slug', 'w']), full('workspaces', 1))
  t.match(await run(['keys', 'create', '--name', 'k', '--kind', 'inference']), full('API keys', 0))
  t.same(
    await json('organizations', 'caps', 'Acme', '--workspaces', 'default', '--api-keys', 'default'),
    shown,
  )
  t.match(await run(['workspaces', 'create', '--name', 'w', '--slug', 'w']), { code: 0 })
})

t.test('organizations caps refuses an invalid cap and an unknown organization', async (t) => {
  const { run } = await stand(t)
  t.equal((await run(['organizations', 'caps', 'Acme', '--interns', 'none'])).code, 2)
  t.match(await run(['organizations', 'caps', 'Umbrella']), { code: 1, stderr: /no such organization/ })
})

t.test('the caps in the settings apply to organizations without caps of their own', async (t) => {
  const own = {
    SLUICE_WORKSPACES_MAX: '1',
    SLUICE_API_KEYS_MAX: '1',
    SLUICE_INTERNS_MAX: '3',
    SLUICE_VAULTS_MAX: '1',
    SLUICE_SECRETS_MAX: '2',
  }
  const { run, json } = await stand(t, own)
  const caps = (await json('organizations', 'caps', 'Acme')) as Record<
    string,
    { cap: number; is_own: boolean }
  >
  t.same(
    CAPPED.map((what) => [caps[what]?.cap, caps[what]?.is_own]),
    [1, 1, 3, 1, 2].map((cap) => [cap, false]),
  )
  t.match(await run(['workspaces', 'create', '--name', 'w', '--slug', 'w']), full('workspaces', 1))
  t.match(await run(['keys', 'create', '--name', 'k', '--kind', 'management']), { code: 0 })
  t.match(await run(['keys', 'create', '--name', 'k', '--kind', 'management']), full('API keys', 1))
  const { id } = (await json('vault', 'create', '--name', 'one', '--workspace', 'default')) as { id: string }
  t.match(
    await run(['vault', 'create', '--name', 'two', '--workspace', 'default']),
    full('attachable vaults', 1),
  )
  for (const name of ['a', 'b'])
    t.match(await run(['vault', 'put', name, '--vault', id, '--host', 'a.example.com'], 'value'), { code: 0 })
  t.match(
    await run(['vault', 'put', 'c', '--vault', id, '--host', 'a.example.com'], 'value'),
    full('secrets in attachable vaults', 2),
  )
  await json('organizations', 'caps', 'Acme', '--secrets', '3')
  t.match(
    await run(['vault', 'put', 'c', '--vault', id, '--host', 'a.example.com'], 'value'),
    { code: 0 },
    'its own cap wins',
  )
})

t.test('an invalid cap in the settings stops the verb with an error that names the setting', async (t) => {
  for (const what of Object.keys(CAPS_DEFAULT)) {
    const name = `SLUICE_${what.toUpperCase()}_MAX`
    for (const given of ['-1', String(CAP_MAX + 1)]) {
      const { code, stderr } = await runVerb(
        { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', [name]: given },
        ['organizations', 'list'],
      )
      t.not(code, 0)
      t.match(stderr, name)
    }
  }
})
