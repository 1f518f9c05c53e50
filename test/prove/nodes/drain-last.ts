/** A node that ends answers later calls on the connections that it kept, also behind load balancers. */
import { DRAIN_MS, REPLACED_FRONT_MS } from '../../../src/schemas/limits/limits.ts'
import type { Program } from '../proof.ts'
import { keptConnections } from './drain-last/kept.ts'
import { rollingRestarts } from './drain-last/restarts.ts'

/** Streams that end soon, after the idle time of a drain, and as the time of a drain ends. */
const ROUNDS = [
  { endMs: 1_000, drainMs: DRAIN_MS },
  { endMs: REPLACED_FRONT_MS + 1_000, drainMs: DRAIN_MS },
  { endMs: 4_800, drainMs: 5_000 },
]
const CONNECTIONS = 200
const SHORT_CONNECTIONS = 20

export const program: Program = {
  text: '200 kept connections call again while their node ends, and 12 rolling restarts behind nginx and HAProxy: nothing fails or is cut',
  async run(proof) {
    const [rounds, connections] = proof.isShort
      ? [ROUNDS.slice(0, 1), SHORT_CONNECTIONS]
      : [ROUNDS, CONNECTIONS]
    for (const round of rounds) await keptConnections(proof, { connections, ...round })
    if (!proof.isShort) await rollingRestarts(proof)
  },
}
