/** How many times as much CPU as a peer an embeddings call may cost. */

export interface CpuBound {
  /** Name of the peer's subject. */
  readonly peer: string
  /** What the peer is, behind "over". */
  readonly over: string
  /** @param dimensions floats of an answer: the more of them, the more of the price is the sockets' */
  atMost(dimensions: number): number
}

/** Floats up to which an answer is small. */
const SMALL_DIMENSIONS = 64
/** Floats of the chart of the README: the default of the scenario. */
export const CHART_DIMENSIONS = 1_536

export const CPU_BOUNDS: readonly CpuBound[] = [
  { peer: 'nginx', over: 'nginx, which parses no JSON and checks no keys', atMost: () => 2.2 },
  {
    peer: 'relay',
    over: 'a bare relay of uWebSockets.js and undici',
    atMost: (dimensions) => (dimensions <= SMALL_DIMENSIONS ? 1.6 : 1.2),
  },
  { peer: 'sluice-ungoverned', over: "Sluice's own pipeline without limits", atMost: () => 1.2 },
  { peer: 'fastify', over: 'a fastify proxy with the same checks', atMost: () => 0.85 },
  { peer: 'portkey', over: 'Portkey, with a chat answer of the same size', atMost: () => 1 / 30 },
]

/** Bytes of JavaScript objects that a governed call may leave to the collector. */
export const HEAP_BYTES_MAX = 12_000
