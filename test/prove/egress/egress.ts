/** The egress route of a whole node, with a secret of its vault. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { watchMemory } from '../../support/load/process-memory.ts'
import { startProvider } from '../../support/embeddings/provider.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program, Proof } from '../proof.ts'

const MIB = 1_048_576
const BODY_BYTES = 100 * MIB
const PIECE = Buffer.alloc(256 * 1_024, 'sluice ')
const SECRET = 'sk-provider-0123456789abcdef'
/** A body that was held would alone be twice as much. */
const GROWTH_MAX = 48 * MIB
/** Of bodies at once, each with its buffers on both sides and those of the sockets' library. */
const TOGETHER = 8
const TOGETHER_GROWTH_MAX = 96 * MIB
/** Until what a start or a run before has left is freed. */
const SETTLE_MS = 4_000
/** Of the short form. */
const TRIES_MAX = 4

export const program: Program = {
  text: "OpenAI's client with a placeholder for its key; 100 MB each way through the egress route in constant memory",
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'what processes hold is read from /proc'
      return
    }
    const stand = await startStand({ settings: { SLUICE_EGRESS_ALLOW: 'http:127.0.0.1,http:[::1]' } })
    proof.after(() => stand.stop())
    await client(proof, stand)
    const target = await startTarget()
    proof.after(async () => void target.close())
    const url = `http://127.0.0.1:${stand.port}/egress/127.0.0.1:${(target.address() as AddressInfo).port}`
    const sizeBytes = proof.isShort ? 40 * MIB : BODY_BYTES
    for (const way of ['up', 'down', 'both'] as const) {
      // In short one alone goes both ways, which is up and down.
      if (!proof.isShort || way === 'both')
        await memory(proof, stand, { url, way, sizeBytes, count: 1, max: GROWTH_MAX })
      if (proof.isShort && way === 'both') continue
      // Decision: half in the short form, which shares two cores with other tests; both ends are in this one
      // process.
      const count = proof.isShort ? TOGETHER / 2 : TOGETHER
      await memory(proof, stand, { url, way, sizeBytes, count, max: TOGETHER_GROWTH_MAX })
    }
  },
}

async function client(proof: Proof, stand: Stand): Promise<void> {
  const provider = await startProvider()
  proof.after(() => provider.close())
  const { inference_key: key } = stand.keys
  const put = await fetch(`http://127.0.0.1:${stand.port}/api/v1/vault/secrets/openai_key`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ hosts: ['localhost'], value: SECRET }),
  })
  proof.check('a secret for `localhost` is stored', put.status === 200, String(put.status))
  const at = (host: string): OpenAI =>
    new OpenAI({
      baseURL: `http://127.0.0.1:${stand.port}/egress/${host}:${new URL(provider.origin).port}/v1`,
      apiKey: '{{secret:openai_key}}',
      defaultHeaders: { 'x-sluice-key': key },
      maxRetries: 0,
    })
  const ask = (host: string): Promise<string> =>
    at(host)
      .embeddings.create({ model: 'any', input: 'one two' })
      .then(
        ({ data }) => `${data.length} vectors`,
        (error: unknown) => (error instanceof OpenAI.APIError ? String(error.status) : String(error)),
      )
  const answered = await ask('localhost')
  const seen = provider.calls[0]?.headers.authorization ?? 'nothing'
  proof.check(
    'the client is answered, and the provider sees the value',
    answered === '1 vectors' && seen === `Bearer ${SECRET}`,
    answered,
  )
  const refused = await ask('127.0.0.1')
  proof.check(
    'for another name of the same address it is refused',
    refused === '403' && provider.calls.length === 1,
    refused,
  )
  proof.check(
    'the node printed nothing of the value',
    !stand.output().includes(SECRET),
    `${stand.output().length} characters looked at`,
  )
}

interface Run {
  readonly url: string
  readonly way: 'up' | 'down' | 'both'
  readonly sizeBytes: number
  readonly count: number
  readonly max: number
}

async function memory(proof: Proof, stand: Stand, run: Run): Promise<void> {
  const { way, sizeBytes, count, max } = run
  let found = await grown(stand, run)
  // On a crowded machine garbage is collected late; a body that is held is held each time.
  for (let tries = 1; proof.isShort && found.bytes > max && tries < TRIES_MAX; tries++)
    found = await grown(stand, run)
  const { lost, bytes, idleBytes } = found
  const what = `${count} × ${mb(sizeBytes)} ${way}`
  proof.check(`${what} arrive whole`, lost.length === 0, [count - lost.length, ...lost].join('; '))
  proof.check(`${what}: growth at most ${mb(max)}`, bytes <= max, `${mb(bytes)} over ${mb(idleBytes)}`)
}

async function grown(
  stand: Stand,
  run: Run,
): Promise<{ readonly lost: readonly string[]; readonly bytes: number; readonly idleBytes: number }> {
  // What stays after the first is not what a body costs.
  await exchange(stand, run)
  await pause(SETTLE_MS)
  const watch = watchMemory(stand.pid, 20)
  const idleBytes = watch.nowBytes
  const done = await Promise.all(Array.from({ length: run.count }, () => exchange(stand, run)))
  watch.stop()
  return { lost: done.filter((one) => one !== 'whole'), bytes: watch.peakBytes - idleBytes, idleBytes }
}

/** @returns `whole` when every byte arrived, else what happened, and when */
async function exchange(stand: Stand, run: Run): Promise<string> {
  const startedAt = performance.now()
  const found = await exchangeOf(stand, run).catch((problem: unknown) => String(problem))
  return found === 'whole'
    ? found
    : `${found} after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
}

async function exchangeOf({ keys }: Stand, { url, way, sizeBytes }: Run): Promise<string> {
  const hasBody = way !== 'down'
  const sent = request(`${url}/${way}/${sizeBytes}`, {
    method: hasBody ? 'POST' : 'GET',
    agent: false,
    headers: { 'x-sluice-key': keys.inference_key, ...(hasBody && { 'content-length': sizeBytes }) },
  })
  const answer = once(sent, 'response') as Promise<[IncomingMessage]>
  if (hasBody) void push(sent, sizeBytes)
  if (!hasBody) sent.end()
  const [response] = await answer
  const hash = createHash('sha256')
  let text = ''
  for await (const piece of response) {
    if (way === 'up') text += String(piece)
    else hash.update(piece as Buffer)
  }
  if (response.statusCode !== 200) return `status ${response.statusCode}`
  return (way === 'up' ? text : hash.digest('hex')) === digestOf(sizeBytes) ? 'whole' : 'other bytes'
}

/** Says the digest of what it was sent, sends bytes, or sends back what comes. */
async function startTarget(): Promise<Server> {
  const server = createServer((req, res) => {
    const [, way, size] = (req.url ?? '').split('/')
    if (way === 'both') {
      res.writeHead(200, { 'content-length': size })
      req.pipe(res)
    } else if (way === 'down') {
      res.writeHead(200, { 'content-length': size })
      void push(res, Number(size))
    } else {
      const hash = createHash('sha256')
      req.on('data', (piece: Buffer) => hash.update(piece)).on('end', () => res.end(hash.digest('hex')))
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

async function push(to: NodeJS.WritableStream, bytes: number): Promise<void> {
  for (let at = 0; at < bytes; at += PIECE.length) {
    if (!to.write(PIECE.subarray(0, Math.min(PIECE.length, bytes - at)))) await once(to as never, 'drain')
  }
  to.end()
}

function digestOf(bytes: number): string {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes; at += PIECE.length)
    hash.update(PIECE.subarray(0, Math.min(PIECE.length, bytes - at)))
  return hash.digest('hex')
}

function mb(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MB`
}
