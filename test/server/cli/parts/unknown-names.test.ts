/** Answers of the command line to a misspelt name. C39. */
import t from 'tap'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(600_000)

const ID = '0199aa00-0000-7000-8000-000000000000'
const HASH = 'ab'.repeat(32)
const { settings, run } = await openInstallation(t, { SLUICE_ROOT_KEY: 'a1'.repeat(32) }, 'Acme')

t.test(
  'an error about an unknown name suggests the nearest name, or the verb that lists the valid ones',
  async (t) => {
    for (const [line, says] of [
      ['workspaces get defualt', 'There is no such workspace. `defualt` was not found. Nearest: `default`.'],
      ['usage --organization Amce', 'There is no such organization. `Amce` was not found. Nearest: `Acme`.'],
      [`keys get ${HASH}`, `\`${HASH}\` was not found. Run \`sluice keys list\``],
      [`keys revoke ${HASH}`, `\`${HASH}\` was not found. Run \`sluice keys list\``],
      [`scim tokens revoke ${ID}`, `\`${ID}\` was not found. Run \`sluice scim tokens list\``],
      [`vault delete ${ID}`, `\`${ID}\` was not found. Run \`sluice vault list\``],
      [`vault rotate-data --vault ${ID}`, `\`${ID}\` was not found. Run \`sluice vault list\``],
      ['webhooks replay nothing', '`nothing` was not found. Run `sluice webhooks list`'],
      [`webhooks replay ${ID}`, `\`${ID}\` was not found. Run \`sluice webhooks list\``],
      ['members remove default nobody', '`nobody` was not found. Run `sluice members list default`'],
    ] as const) {
      const { code, stderr } = await run(line)
      t.equal(code, 1, line)
      // The program is named as it was called.
      t.ok(stderr.replace('`bin/sluice ', '`sluice ').includes(says), `${line}: ${stderr}`)
    }
  },
)

t.test('suggests the secrets of the same vault for a misspelt one', async (t) => {
  const { stdout } = await run('vault create --workspace default --name v --json')
  const { id } = JSON.parse(stdout) as { id: string }
  await runVerb(settings, ['vault', 'put', 'openai_key', '--vault', id, '--host', 'api.openai.com'], 'value')
  const { code, stderr } = await run(`vault rm openai_kye --vault ${id}`)
  t.equal(code, 1)
  t.match(stderr, /`openai_kye` was not found\. Nearest: `openai_key`\./)
})

t.test('suggests the nearest verb or option for a misspelt one', async (t) => {
  for (const [line, says] of [
    ['workspace list', /Did you mean workspaces\?/],
    ['keys lst', /Did you mean list\?/],
    ['help keys creat', /unknown command 'creat'\n\(Did you mean create\?\)/],
    ['keys list --organisation x', /Did you mean --organization\?/],
    ['keys list --jsn', /Did you mean --json\?/],
    ['keys create --limt 5', /unknown option '--limt'\n\(Did you mean --limit\?\)/],
    ['webhooks list --state ded', /Allowed choices are .*dead/],
  ] as const) {
    const { code, stderr } = await run(line)
    t.equal(code, 2, line)
    t.match(stderr, says, line)
  }
  const { stderr } = await run('keys lst --json')
  t.match(JSON.parse(stderr), { error: 'usage', message: /Did you mean list\?/ })
})
