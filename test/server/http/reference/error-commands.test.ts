/** C39: the commands on the pages of errors show these errors, at a node as it is after its first start. */
import { spawn } from 'node:child_process'
import t from 'tap'
import { FAILURE_SAMPLES } from '../../../../src/schemas/failure-samples.ts'
import { curlOf } from '../../../../src/server/http/reference/error-pages.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { firstKeys, nodeSettings, runToEnd, sluice, startNode } from '../../../support/nodes/node.ts'

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

t.test('each command shows the error of its page', async (t) => {
  const settings = await nodeSettings(t)
  const node = await startNode(t, settings)
  const made = await runToEnd(settings, sluice('scim', 'tokens', 'create', '--name', 'samples', '--json'))
  const { token } = JSON.parse(made.stdout) as { token: string }
  const { inference_key: inference = '', management_key: management = '' } = firstKeys(node.dataDir)
  const env = { SLUICE_KEY: inference, SLUICE_MANAGEMENT_KEY: management, SCIM_TOKEN: token }
  for (const [name, { calls } = {}] of Object.entries(FAILURE_SAMPLES)) {
    if (calls === undefined) continue
    const commands = calls.map((call) =>
      curlOf(call).replaceAll('127.0.0.1:8080', `127.0.0.1:${settings['SLUICE_PORT']}`),
    )
    const shown = await run(commands, env)
    const found = /"error_type":"(\w+)"/.exec(shown)?.[1]
    const isScim = shown.includes('urn:ietf:params:scim:api:messages:2.0:Error')
    if (isScim) t.match(name, /^scim_/, shown)
    else t.equal(found, name, `${commands.at(-1)}\n${shown}`)
  }
})
