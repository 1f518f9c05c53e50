/**
 * Connections that send a request, read its answer as fast as it comes and send it again; it ends with its
 * parent.
 */
import { request, type Agent, Agent as HttpAgent } from 'node:http'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'

export interface FloodReaders {
  readonly port: number
  readonly connections: number
  readonly request: LoadRequest
}

export interface FloodRead {
  /** Ended answers by status; 0: cut, or never begun. */
  readonly statuses: Readonly<Record<number, number>>
  readonly bytes: number
  readonly ms: number
  readonly generatorCores: number
}

/** Milliseconds before a connection whose call failed sends again: the attack is the stream, not the call. */
const AGAIN_MS = 1_000

function readAll(plan: FloodReaders): () => FloodRead {
  const statuses: Record<number, number> = {}
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  let bytes = 0
  const agent = new HttpAgent({ keepAlive: true, maxSockets: plan.connections })
  const ended = (status: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === 200) ask()
    else setTimeout(ask, AGAIN_MS)
  }
  const ask = (): void => sendOnce(plan, agent, (piece) => (bytes += piece), ended)
  for (let nth = 0; nth < plan.connections; nth++) ask()
  return () => {
    const ms = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpu)
    return { statuses, bytes, ms, generatorCores: (user + system) / 1_000 / ms }
  }
}

function sendOnce(
  { port, request: { method, path, headers, body } }: FloodReaders,
  agent: Agent,
  read: (bytes: number) => void,
  ended: (status: number) => void,
): void {
  let isOver = false
  const end = (status: number): void => {
    if (isOver) return
    isOver = true
    ended(status)
  }
  const length = { 'content-length': Buffer.byteLength(body) }
  const asked = request({ host: '127.0.0.1', port, method, path, agent, headers: { ...headers, ...length } })
  asked.once('error', () => end(0))
  asked.once('response', (answer) => {
    answer.on('data', (piece: Buffer) => read(piece.length))
    answer.once('error', () => end(0))
    answer.once('close', () => end(answer.complete ? (answer.statusCode ?? 0) : 0))
  })
  asked.end(body)
}

process.on('disconnect', () => process.exit(0))
process.once('message', (plan: FloodReaders) => {
  const found = readAll(plan)
  process.send?.('started')
  process.once('message', () => process.send?.(found(), () => process.exit(0)))
})
