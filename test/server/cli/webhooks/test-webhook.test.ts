/** `sluice test-webhook` against a real node and a real receiver. */
import t from 'tap'
import { nodeSettings, runToEnd, sluice, startNode } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { verifiesAsB5, verifiesAsStandard } from '../../../support/webhooks/webhook-verifiers.ts'
import { startWebhookReceiver } from '../../../support/webhooks/webhook-receiver.ts'

t.setTimeout(300_000)

const receiver = await startWebhookReceiver((path) => (path.startsWith('/gone') ? 410 : 204))
t.teardown(() => receiver.close())
const settings = {
  ...(await nodeSettings(t)),
  SLUICE_EGRESS_CA: receiver.rootFile,
  SLUICE_EGRESS_ALLOW: receiver.allow,
}
await startNode(t, settings)
const run = (...args: readonly string[]) => runVerb(settings, ['test-webhook', ...args])

t.test('without a receiver it names the missing setting', async (t) => {
  t.match(await run(), { code: 1, stdout: '', stderr: /has no default_callback_url/ })
})

t.test('the node refuses an address inside the network', async (t) => {
  t.match(await run('--to', 'https://127.0.0.1:1/in'), {
    code: 1,
    stderr: /Webhooks cannot be sent to this URL/,
  })
  t.match(await run('--to', 'https://10.0.0.1/in'), {
    code: 1,
    stderr: /Webhooks cannot be sent to this URL/,
  })
  t.equal(receiver.received.length, 0)
})

t.test('reports an unknown workspace', async (t) => {
  t.match(await run('--workspace', 'defualt', '--to', `${receiver.origin}/in`), {
    code: 1,
    stderr: /no such workspace/,
  })
})

t.test('exits with 1 when a receiver refuses the event, and explains what the status causes', async (t) => {
  t.match(await run('--to', `${receiver.origin}/gone`), {
    code: 1,
    stdout: /^not delivered to 127\.0\.0\.1 \(410\) after \d+ ms: .* 410: the node would stop/,
  })
})

t.test('the installed program: the receiver of the workspace gets a signed event', async (t) => {
  const set = sluice('workspaces', 'update', 'default', '--callback-url', `${receiver.origin}/in?token=hush`)
  t.match(await runToEnd(settings, set), { code: 0 })
  const { code, stdout } = await runVerb(settings, ['test-webhook'])
  t.equal(code, 0)
  t.match(stdout, /^delivered to 127\.0\.0\.1 \(204\) in \d+ ms\nevent id: [0-9a-f-]{36}\n$/)
  const last = receiver.received.at(-1)
  const secret = (await runVerb(settings, ['webhooks', 'secret', 'show', 'default'])).stdout.trim()
  const body = Buffer.from(last?.body ?? '')
  t.equal(last?.path, '/in?token=hush')
  t.ok(verifiesAsB5(secret, last?.headers ?? {}, body))
  t.ok(verifiesAsStandard(secret, last?.headers ?? {}, body))
  t.match(JSON.parse(body.toString()), { type: 'webhook.test' })
})

t.test('with --json it prints the answer of the node; with --url it calls the named node', async (t) => {
  const { stdout } = await run('--to', `${receiver.origin}/in`, '--json')
  t.match(JSON.parse(stdout), { data: { delivered: true, status: 204, reason: null } })
  const away = await run('--url', 'http://127.0.0.1:1')
  t.match(away, {
    code: 1,
    stderr: /the node at http:\/\/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/,
  })
})
