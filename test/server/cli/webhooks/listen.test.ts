/** `sluice listen`: nodes that lie, refuse or go away, and a real one. */
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { secretTextOf, signatureHeaders } from '../../../../src/schemas/webhooks/webhook-signatures.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { firstKeys, type Settings } from '../../../support/nodes/node.ts'
import { sharedNode } from '../../../support/nodes/shared-node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { verifiesAsB5, verifiesAsStandard } from '../../../support/webhooks/webhook-verifiers.ts'

t.setTimeout(300_000)

const SECRET = secretTextOf(randomBytes(32))
const KEY = 'sk-sluice-mgmt-v1-of-the-test'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Receiver {
  readonly port: number
  readonly received: readonly Received[]
}

/** The receiver of the user: plain HTTP on this machine. */
async function receiver(t: Test, status = 204): Promise<Receiver> {
  const received: Received[] = []
  const port = await served(t, (path, headers, body) => {
    received.push({ path, headers, body })
    return { status, text: '' }
  })
  return { port, received }
}

type Answering = (
  path: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
) => { readonly status: number; readonly text: string }

async function served(t: Test, answer: Answering): Promise<number> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const { status, text } = answer(request.url ?? '', request.headers, Buffer.concat(pieces))
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

interface Event {
  readonly id: string
  readonly job_id: string
  readonly created_at: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function event(body = '{"type":"video.generation.completed","data":{}}', id = randomUUID()): Event {
  const timestampS = Math.floor(Date.now() / 1_000)
  const flat = signatureHeaders({ id, timestampS, body: Buffer.from(body), secrets: [SECRET] })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? ''
  const job = `vid_${id.replaceAll('-', '')}`
  return { id, job_id: job, created_at: new Date().toISOString(), headers, body }
}

interface Asked {
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** A node that answers each question with the next of these; the last one stays. */
async function node(
  t: Test,
  pages: readonly { readonly status?: number; readonly events?: readonly Event[]; readonly more?: boolean }[],
): Promise<{ readonly origin: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = []
  const port = await served(t, (path, headers) => {
    const { status = 200, events = [], more = false } = pages[Math.min(asked.length, pages.length - 1)] ?? {}
    asked.push({ query: new URL(path, 'http://node').searchParams, headers })
    const error = { error: { code: status, message: 'The node says no.', metadata: {} } }
    const page = { data: events, has_more: more, next: `${asked.length}.` }
    return { status, text: JSON.stringify(status === 200 ? page : error) }
  })
  return { origin: `http://127.0.0.1:${port}`, asked }
}

const SETTINGS: Settings = { SLUICE_MANAGEMENT_KEY: KEY, SLUICE_WEBHOOK_SECRET: SECRET }

function listen(settings: Settings, ...args: readonly (string | number)[]) {
  return runVerb(settings, ['listen', ...args.map(String)])
}

t.test('forwards a forged event and reports the invalid signature: exit code 1', async (t) => {
  const { port, received } = await receiver(t)
  const genuine = event()
  const forged = { ...genuine, body: genuine.body.replace('completed', 'failed') }
  const { origin } = await node(t, [{ events: [forged] }])
  const { code, stdout } = await listen(SETTINGS, port, '--url', origin, '--count', 1)
  t.equal(code, 1)
  t.match(stdout, /video\.generation\.failed .* INVALID SIGNATURE: x-sluice-signature, webhook-signature$/m)
  t.equal(received.length, 1)
})

t.test('names only the signature form that is invalid', async (t) => {
  const { port } = await receiver(t)
  const one = event()
  const { origin } = await node(t, [{ events: [{ ...one, headers: { ...one.headers, 'webhook-id': 'x' } }] }])
  const { code, stdout } = await listen(SETTINGS, port, '--url', origin, '--count', 1)
  t.equal(code, 1)
  t.match(stdout, / INVALID SIGNATURE: webhook-signature$/m)
})

t.test('without the secret no event is reported as genuine', async (t) => {
  const { port } = await receiver(t)
  const { origin } = await node(t, [{ events: [event()] }])
  const { code, stdout, stderr } = await listen(
    { SLUICE_MANAGEMENT_KEY: KEY },
    port,
    '--url',
    origin,
    '--count',
    1,
  )
  t.match([code, stdout, stderr], [0, / {2}not verified$/m, /warning: signatures are not verified/])
})

t.test('shows neither the key nor the secret, and sends neither to the receiver', async (t) => {
  const { port, received } = await receiver(t, 500)
  const { origin, asked } = await node(t, [{ events: [event()] }])
  const { stdout, stderr } = await listen(SETTINGS, port, '--url', origin, '--count', 1)
  t.equal(asked[0]?.headers['authorization'], `Bearer ${KEY}`)
  for (const text of [stdout, stderr, JSON.stringify(received)]) {
    t.notOk(text.includes(KEY))
    t.notOk(text.includes(SECRET))
  }
})

t.test('ends with the message of the node when the node refuses the key', async (t) => {
  const { port } = await receiver(t)
  for (const status of [401, 403, 404]) {
    const { origin } = await node(t, [{ status }])
    const { code, stderr } = await listen(SETTINGS, port, '--url', origin)
    t.match([code, stderr], [1, /The node says no\.\n$/], String(status))
  }
})

t.test('reports in one sentence that an answer does not come from a node', async (t) => {
  const { port } = await receiver(t)
  for (const text of ['<html>', '{}', '{"data":[{}],"has_more":false,"next":"1."}']) {
    const origin = `http://127.0.0.1:${await served(t, () => ({ status: 200, text }))}`
    const { code, stderr } = await listen(SETTINGS, port, '--url', origin)
    t.match([code, stderr], [1, /an unexpected answer: its version may differ[^\n]*\n$/], text)
  }
})

t.test('waits for a node that became unreachable, and reports that once', async (t) => {
  const { port, received } = await receiver(t)
  const { origin } = await node(t, [{ status: 503 }, { status: 503 }, { events: [event()] }])
  const { code, stderr } = await listen(SETTINGS, port, '--url', origin, '--count', 1)
  t.equal(code, 0)
  t.equal(stderr.match(/The node says no/g)?.length, 1)
  t.equal(received.length, 1)
})

t.test('an event listed twice is forwarded once, and each page continues the one before', async (t) => {
  const { port, received } = await receiver(t)
  const [a, b] = [event(), event()]
  const { origin, asked } = await node(t, [{ events: [a], more: true }, { events: [a, b] }])
  const { code } = await listen(SETTINGS, port, '--url', origin, '--count', 2, '--since', 60)
  t.equal(code, 0)
  t.same(
    received.map(({ headers }) => headers['webhook-id']),
    [`msg_${a.id}`, `msg_${b.id}`],
  )
  t.same(
    asked.map(({ query }) => [query.get('seconds'), query.get('after'), query.get('workspace_id')]),
    [
      ['60', null, null],
      [null, '1.', null],
    ],
  )
})

t.test('asks for the named workspace on each page', async (t) => {
  const { port } = await receiver(t)
  const { origin, asked } = await node(t, [{ events: [event()], more: true }, { events: [event()] }])
  const { stderr } = await listen(SETTINGS, port, '--url', origin, '--workspace', 'research', '--count', 2)
  t.same(
    asked.map(({ query }) => query.get('workspace_id')),
    ['research', 'research'],
  )
  t.match(stderr, /^forwarding webhooks of research to /)
})

t.test('reports why a receiver is down, and tries the next event', async (t) => {
  const { origin } = await node(t, [{ events: [event(), event()] }])
  const { code, stdout } = await listen(SETTINGS, 1, '--url', origin, '--count', 2)
  t.equal(code, 0)
  t.equal(stdout.match(/no answer: connect ECONNREFUSED/g)?.length, 2)
})

t.test('text from a node cannot control the terminal', async (t) => {
  const { port } = await receiver(t)
  const hostile = event('{"type":"\\u001b[2Jcleared"}')
  const { origin } = await node(t, [{ events: [{ ...hostile, job_id: '\u001b]0;owned\u0007' }] }])
  const { stdout } = await listen(SETTINGS, port, '--url', origin, '--count', 1)
  t.notMatch(stdout, '\u001b')
  t.match(stdout, '?[2Jcleared')
})

t.test('refuses invalid receivers, seconds and secrets as bad usage, without quoting a secret', async (t) => {
  for (const args of [
    ['0'],
    ['65536'],
    ['ftp://x'],
    ['x'],
    ['3000', '--since', '3601'],
    ['3000', '--url', 'x'],
  ])
    t.equal((await listen(SETTINGS, ...args)).code, 2, args.join(' '))
  const file = join(await openFolder(t), 'secret')
  writeFileSync(file, 'hunter2')
  const { code, stderr } = await listen(SETTINGS, 3000, '--url', 'http://127.0.0.1:1', '--secret-file', file)
  t.match([code, stderr], [1, /contains no signing secret/])
  t.notMatch(stderr, 'hunter2')
})

t.test('with a real node, the event of a job without a callback URL reaches a local port', async (t) => {
  const { settings, ready, dataDir } = await sharedNode()
  const { port, received } = await receiver(t)
  const key = firstKeys(dataDir)['inference_key'] ?? ''
  const listening = listen(settings, `http://127.0.0.1:${port}/hooks?a=b`, '--since', 60, '--count', 1)
  const made = await fetch(`${ready.url}/api/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/clip-1', prompt: 'A paper boat', duration: 1 }),
  })
  const { id } = (await made.json()) as { id: string }
  const { code, stdout, stderr } = await listening
  t.equal(code, 0, stderr)
  t.match(
    stdout,
    new RegExp(`video\\.generation\\.completed {2}${id} {2}answered 204 {2}both signatures valid\n$`),
  )
  const [first] = received
  const secret = (await runVerb(settings, ['webhooks', 'secret', 'show', 'default'])).stdout.trim()
  const { path, headers, body = Buffer.alloc(0) } = first ?? { path: '', headers: {} }
  t.equal(path, '/hooks?a=b')
  t.ok(verifiesAsB5(secret, headers, body))
  t.ok(verifiesAsStandard(secret, headers, body))
  const audit = await runVerb(settings, [
    'audit',
    'list',
    '--operation',
    'cli.webhooks-secret-show',
    '--json',
  ])
  t.equal(
    (JSON.parse(audit.stdout) as { data: readonly unknown[] }).data.length,
    2,
    'both showings are audited',
  )
  t.match(await runVerb(settings, ['organizations', 'create', '--name', 'Other']), { code: 0 })
  const beside = await listen(settings, port, '--since', 600, '--count', 1)
  t.match(beside, { code: 0, stdout: /both signatures valid\n$/ }, 'the secret of the key’s organization')
})
