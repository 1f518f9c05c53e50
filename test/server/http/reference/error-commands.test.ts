/** C39: the commands on the pages of errors show these errors, at a node as it is after its first start. */
import { spawn } from 'node:child_process'
import t from 'tap'
import { FAILURE_SAMPLES } from '../../../../src/schemas/failure-samples.ts'
import { FAILURES, textOf, type FailureName } from '../../../../src/schemas/failures.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { firstKeys } from '../../../support/nodes/node.ts'
import { sharedNode } from '../../../support/nodes/shared-node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { curlOf } from '../../../../src/server/http/reference/site.ts'

t.setTimeout(600_000)

/** The output of the last of these commands. */
function run(commands: readonly string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      'sh',
      ['-c', commands.map((each) => `out=$(${each})`).join('\n') + '\nprintf %s "$out"'],
      {
        env: { ...plainEnvironment(), ...env },
      },
    )
    let text = ''
    child.stdout.on('data', (piece: Buffer) => (text += piece.toString()))
    child.once('error', reject)
    child.once('close', () => resolve(text))
  })
}

const SCIM_ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** An error, in the envelope or in that of SCIM. */
interface Shown {
  readonly error?: {
    readonly message?: string
    readonly metadata?: { readonly error_type?: string; readonly issues?: readonly object[] }
  }
  readonly schemas?: readonly string[]
  readonly detail?: string
}

/** The text of a failure as far as no answer fills it; an issue may replace its full stop. */
function beginOf(name: FailureName): string {
  const [begin = ''] = FAILURES[name].text.split('{')
  return begin.replace(/\.$/, '')
}

t.test('each command shows the error of its page', async (t) => {
  const { settings, dataDir } = await sharedNode()
  const { inference_key: inference = '', management_key: management = '', ...keys } = firstKeys(dataDir)
  // Tests of other files may have made another organization.
  const own = ['--organization', keys['organization_id'] ?? '']
  const made = await runVerb(settings, ['scim', 'tokens', 'create', '--name', 'samples', '--json', ...own])
  const { token } = JSON.parse(made.stdout) as { token: string }
  const env = { SLUICE_KEY: inference, SLUICE_MANAGEMENT_KEY: management, SCIM_TOKEN: token }
  for (const [name, { calls, failure = {} } = {}] of Object.entries(FAILURE_SAMPLES)) {
    if (calls === undefined) continue
    const commands = calls.map((call) =>
      curlOf(call).replaceAll('127.0.0.1:8080', `127.0.0.1:${settings['SLUICE_PORT']}`),
    )
    const shown = await run(commands, env)
    const what = `${commands.at(-1)}\n${shown}`
    const answer = JSON.parse(shown) as Shown
    if (answer.schemas?.includes(SCIM_ERROR) === true) {
      t.ok(answer.detail?.startsWith(beginOf(name as FailureName)), `${name}: ${what}`)
      continue
    }
    t.equal(answer.error?.metadata?.error_type, name, what)
    const { fields, metadata: { issues } = {} } = failure
    if (issues !== undefined) t.same(answer.error?.metadata?.issues, issues, what)
    else if (fields !== undefined)
      t.ok(
        answer.error?.message?.startsWith(textOf({ name: name as FailureName, fields })),
        `${name}: ${what}`,
      )
  }
})
