/** Memory of what callers may hold open on a node: idle connections, streams, unfinished uploads. */
import { connect, type Socket } from 'node:net'
import { pause } from '../../test/support/nodes/spawned.ts'
import { privateBytesOfTree } from './at-rest.ts'

export interface HeldKind {
  readonly name: string
  /** Held at once. */
  readonly count: number
  /** What each connection sends first, and leaves so. */
  readonly bytes: Buffer
}

export interface HeldFigure {
  readonly name: string
  readonly count: number
  /** Private bytes of all processes of the node for each. */
  readonly bytesEach: number
}

export interface HeldNode {
  readonly pid: number
  readonly port: number
}

/**
 * Milliseconds from the last request until the reading: below the time after which a node ends idle
 * connections.
 */
const SETTLE_MS = 3_000
/** Share that is opened and ended first, so that code and pools are no part of the figure. */
const WARM_SHARE = 0.1
/** Milliseconds after those until the node has let go of them. */
const WARM_MS = 2_000

/** Throws when the node ends a connection before it was counted. */
export async function holdOpen(
  node: HeldNode,
  kind: HeldKind,
  { settleMs, warmMs } = { settleMs: SETTLE_MS, warmMs: WARM_MS },
): Promise<HeldFigure> {
  const { name, count, bytes } = kind
  const first = await open(node, bytes, Math.ceil(count * WARM_SHARE))
  await pause(settleMs)
  for (const socket of first) socket.destroy()
  await pause(warmMs)
  const before = privateBytesOfTree(node.pid)
  const held = await open(node, bytes, count)
  await pause(settleMs)
  const after = privateBytesOfTree(node.pid)
  const lost = held.filter((socket) => socket.destroyed).length
  for (const socket of held) socket.destroy()
  if (lost > 0) throw new Error(`${name}: the node ended ${lost} of ${count}`)
  return { name, count, bytesEach: (after - before) / count }
}

async function open({ port }: HeldNode, bytes: Buffer, count: number): Promise<readonly Socket[]> {
  return Promise.all(Array.from({ length: count }, () => opened(port, bytes)))
}

function opened(port: number, bytes: Buffer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // A cut shows as a destroyed socket.
      socket.on('error', () => undefined)
      socket.resume()
      socket.write(bytes, () => resolve(socket))
    })
  })
}
