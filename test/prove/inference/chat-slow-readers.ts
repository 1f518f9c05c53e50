/** Callers who stop reading cost little memory, slow no other call, and are cut and charged. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { tree } from '../../support/load/process-cpu.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, Proof } from '../proof.ts'

const FULL = { unread: 1_000, readers: 20, readMs: 10_000 }
const SHORT = { unread: 60, readers: 5, readMs: 2_000 }
const MODEL = 'maker/model-1'
const KIB = 1_024
const MIB = 1_024 * KIB
/** Bytes that the whole node may take for one caller who does not read, in all. */
const EACH_BYTES_MAX = 130_000
/** Bytes of an unread answer: more than sockets hold. */
const ANSWER_BYTES = 20 * MIB
/** Milliseconds between two events of an answer that is read. */
const EVENT_MS = 20
const SETTLED_MS = 2_000
/** Milliseconds until a caller who reads nothing is cut, and as much again for a busy machine. */
const CUT_MS = 120_000

export const program: Program = {
  text: 'a thousand callers who stop reading streams of 20 MB take 130 KB each, slow no reader, and are cut and charged',
  async run(proof) {
    const { unread, readers, readMs } = proof.isShort ? SHORT : FULL
    const provider = await startProvider(proof)
    const stand = await startStand({
      settings: { SLUICE_STREAMS: '8192' },
      catalogue: catalogueOf(provider.port),
    })
    proof.after(() => stand.stop())
    await gaps(stand, readers, 1_000)
    const alone = await gaps(stand, readers, readMs)
    const before = memoryOf(stand)
    const stalled = Array.from({ length: unread }, () => stall(stand))
    proof.after(async () => stalled.forEach(({ socket }) => socket.destroy()))
    await provider.isStill(unread)
    const grown = memoryOf(stand) - before
    const most = unread * EACH_BYTES_MAX
    const text = `${unread} callers who do not read take at most ${Math.round(most / 1e6)} MB`
    const found = `${(grown / 1e6).toFixed(0)} MB, ${Math.round(grown / unread / 1_000)} KB each`
    // A node's first streams take more, read or not, and garbage counts: few callers prove no bound.
    if (proof.isShort) proof.checkTimed(text, grown <= most, found)
    else proof.check(text, grown <= most, found)
    const least = unread * ANSWER_BYTES
    proof.check(
      'their providers are not read either',
      provider.sent < least,
      `${Math.round(provider.sent / MIB)} MiB of ${Math.round(least / MIB)} were taken`,
    )
    const beside = await gaps(stand, readers, readMs)
    proof.checkTimed(
      'the gaps of those who read are at most twice as long (p99)',
      beside <= 2 * alone,
      `${beside.toFixed(1)} ms, and ${alone.toFixed(1)} alone`,
    )
    if (!proof.isShort) await cut(proof, stand, stalled)
  },
}

async function cut(proof: Proof, stand: Stand, stalled: readonly Stalled[]): Promise<void> {
  // An unread socket reports nothing: ask whether the provider is still held.
  const from = performance.now()
  while ((await openStreams(stand)) > 0 && performance.now() - from < CUT_MS) await after(SETTLED_MS)
  const left = await openStreams(stand)
  proof.check(
    'callers without progress are cut',
    left === 0,
    `${left} of ${stalled.length} left ${Math.round((performance.now() - from) / 1_000)} s behind the measurement`,
  )
  await after(SETTLED_MS)
  await checkLedger(proof, stand)
}

async function openStreams(stand: Stand): Promise<number> {
  const { text } = await stand.admin('/metrics')
  const found = /^sluice_streams_open\S* (\d+)$/m.exec(text)
  return found === null ? 0 : Number(found[1])
}

/** Resident bytes of all processes of the node. */
function memoryOf(stand: Stand): number {
  return tree(stand.pid).reduce((sum, { pid }) => sum + residentOf(pid), 0)
}

/** What processes share counts for each in its part. */
function residentOf(pid: number): number {
  try {
    const found = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
    return Number(found?.[1] ?? 0) * KIB
  } catch {
    return 0
  }
}

interface Stalled {
  readonly socket: Socket
}

/** A caller who asks and never reads. */
function stall(stand: Stand): Stalled {
  const socket = connect(stand.port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => undefined)
  socket.write(requestOf(stand, 'flood'))
  return { socket }
}

/** @returns milliseconds between two reads of callers who read, p99 */
async function gaps(stand: Stand, callers: number, ms: number): Promise<number> {
  const all: number[] = []
  const read = async (): Promise<void> => {
    const socket = connect(stand.port, '127.0.0.1')
    let last = 0
    socket.on('data', () => {
      const now = performance.now()
      if (last > 0) all.push(now - last)
      last = now
    })
    socket.write(requestOf(stand, 'paced'))
    await after(ms)
    socket.destroy()
  }
  await Promise.all(Array.from({ length: callers }, read))
  return all.sort((one, other) => one - other)[Math.floor(all.length * 0.99)] ?? Infinity
}

function requestOf({ keys }: Stand, text: 'flood' | 'paced'): string {
  const body = JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: text }] })
  return [
    'POST /api/v1/chat/completions HTTP/1.1',
    'host: node',
    `authorization: Bearer ${keys.inference_key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

interface Provider {
  readonly port: number
  /** Bytes of answers that sockets took. */
  readonly sent: number
  /** Resolves when so many answers have begun and none goes on. */
  isStill(answers: number): Promise<void>
}

const EVENT = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'x'.repeat(180) }, finish_reason: null }],
})}\n\n`
/** Events that are written at once. */
const PIECE = Buffer.from(EVENT.repeat(64))

async function startProvider(proof: Proof): Promise<Provider> {
  let [sent, floods] = [0, 0]
  const server = createServer((asked, reply) => {
    let body = ''
    asked.on('data', (bytes: Buffer) => (body += bytes.toString()))
    asked.on('end', () => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      if (!body.includes('flood')) return pace(reply)
      floods++
      void flood(reply, (bytes) => (sent += bytes))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proof.after(async () => void server.close().closeAllConnections())
  return {
    port: (server.address() as AddressInfo).port,
    get sent() {
      return sent
    },
    async isStill(answers) {
      await until('every answer has begun', () => floods >= answers)
      for (let before = -1; before !== sent; await after(SETTLED_MS)) before = sent
    },
  }
}

function pace(reply: ServerResponse): void {
  const timer = setInterval(() => reply.write(EVENT), EVENT_MS)
  reply.on('close', () => clearInterval(timer))
}

async function flood(reply: ServerResponse, took: (bytes: number) => void): Promise<void> {
  for (let at = 0; at < ANSWER_BYTES && !reply.destroyed; at += PIECE.length) {
    await new Promise<void>((next) => {
      reply.once('close', next)
      reply.write(PIECE, () => {
        reply.off('close', next)
        next()
      })
    })
    took(PIECE.length)
  }
}

function catalogueOf(port: number): object {
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  const endpoint = { provider: 'flood', upstream_model: 'm', pricing: { prompt: '0', completion: '0' } }
  return {
    providers: [
      { slug: 'flood', name: 'Flood', protocol: 'openai', base_url: `http://127.0.0.1:${port}/v1` },
    ],
    models: [{ id: MODEL, name: 'Model', architecture, context_length: 128_000, endpoints: [endpoint] }],
  }
}
