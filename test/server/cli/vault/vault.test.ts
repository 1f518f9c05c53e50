import t from 'tap'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { openInterns } from '../../../../src/server/store/workspaces/interns.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(600_000)

t.test(
  'vault create, list and delete work on attachable vaults, whose names are unique in a workspace',
  async (t) => {
    const { store, workspace, run, json } = await openInstallation(t)
    const made = await json('vault create --workspace default --name team')
    t.match(made, { name: 'team', workspace_id: workspace.id, secrets: 0 })
    t.match(await run('vault create --workspace default --name team'), {
      code: 1,
      stderr: /name is already used/,
    })
    t.match(await json('vault list'), { data: [{ id: made['id'], name: 'team', secrets: 0 }] })
    t.match(await json(`vault delete ${String(made['id'])}`), { deleted: true })
    t.match(await run(`vault delete ${String(made['id'])}`), { code: 1, stderr: /no such vault/ })
    t.match(await auditOf(store), [
      {
        operation: 'cli.vault-create',
        object_kind: 'vault',
        object_id: made['id'],
        before: null,
        after: { name: 'team' },
      },
      {
        operation: 'cli.vault-delete',
        object_id: made['id'],
        before: { name: 'team', secrets: [] },
        after: null,
      },
    ])
    t.equal(
      (await store.sql`SELECT FROM invalidations WHERE kind = 'vault'`).length,
      0,
      'fronts keep nothing of it',
    )
  },
)

t.test('vault delete does not delete vaults of interns', async (t) => {
  const { store, organization, run } = await openInstallation(t)
  const input = {
    workspace: 'default',
    name: 'Ada',
    attachedVaultId: null,
    description: null,
    instructions: null,
    wantsProvision: false,
  }
  const { vaultId } = must(
    await openInterns(store, () => Promise.resolve()).create(
      { organizationId: organization.id, ...input },
      CLI,
    ),
  )
  t.match(await run(`vault delete ${vaultId}`), { code: 1, stderr: /no such vault/ })
})

t.test(
  'keys create --kind intern: the key acts in its intern’s workspace, and the audit names its creator',
  async (t) => {
    const { store, organization, workspace, run, json } = await openInstallation(t)
    const input = {
      workspace: 'default',
      name: 'Ada',
      attachedVaultId: null,
      description: null,
      instructions: null,
      wantsProvision: false,
    }
    const { id } = must(
      await openInterns(store, () => Promise.resolve()).create(
        { organizationId: organization.id, ...input },
        CLI,
      ),
    )
    const made = await json(`keys create --kind intern --intern ${id} --name ada --rpm 60`)
    t.match(made, {
      key: /^sk-sluice-intern-v1-/,
      kind: 'intern',
      intern_id: id,
      workspace_id: workspace.id,
      rate_limit_rpm: 60,
    })
    t.match(await openKeyStore(store).load([hashOfKey(String(made['key']))]), {
      value: [{ kind: 'intern', internId: id, workspaceId: workspace.id }],
    })
    t.match((await auditOf(store)).at(-1), {
      operation: 'cli.keys-create',
      actor: { kind: 'cli' },
      object_kind: 'key',
      object_id: made['hash'],
      after: { intern_id: id, name: 'ada' },
    })
    t.notMatch(JSON.stringify(await auditOf(store)), String(made['key']).slice(-43))
    t.match(await json('keys list'), { data: [{ kind: 'intern', intern_id: id }] })
    t.match(await run(`keys create --kind intern --intern ${workspace.id} --name k`), {
      code: 1,
      stderr: /no such intern/,
    })
  },
)

t.test(
  'keys create refuses an intern key without its intern, and an intern or a workspace on other keys',
  async (t) => {
    const { run } = await openInstallation(t)
    const wrong: readonly [readonly string[], RegExp][] = [
      [['--kind', 'intern'], /--intern is missing, expected the id of the intern/],
      [['--kind', 'inference', '--intern', 'x'], /--intern is not allowed .* expected the kind `intern`/],
      [
        ['--kind', 'intern', '--intern', 'x', '--workspace', 'default'],
        /--workspace is not allowed for an intern key, expected no value/,
      ],
    ]
    for (const [args, stderr] of wrong)
      t.match(await run('keys', 'create', '--name', 'k', ...args), { code: 2, stderr })
  },
)
