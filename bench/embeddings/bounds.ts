/** How many times as much CPU as a peer an embeddings call may cost, and the chart of it in the README. */

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
/** Floats of the chart: the default of the scenario. */
export const CHART_DIMENSIONS = 1_536

export const CPU_BOUNDS: readonly CpuBound[] = [
  { peer: 'nginx', over: 'nginx, which reads no JSON and knows no keys', atMost: () => 2.2 },
  {
    peer: 'relay',
    over: 'a bare relay of uWebSockets.js and undici',
    atMost: (dimensions) => (dimensions <= SMALL_DIMENSIONS ? 1.6 : 1.2),
  },
  { peer: 'sluice-ungoverned', over: "Sluice's own pipeline without limits", atMost: () => 1.2 },
  { peer: 'fastify', over: 'a fastify proxy with the same checks', atMost: () => 0.85 },
  { peer: 'portkey', over: 'Portkey, whose chat answer has as many bytes', atMost: () => 1 / 30 },
]

/** Bytes of JavaScript objects that a governed call may leave to the collector. */
export const HEAP_BYTES_MAX = 12_000

/** Width of a bar for each whole of a bound. */
const BAR = 10

/** The lines of the README's chart. */
export function boundsChart(): readonly string[] {
  const widest = Math.max(...CPU_BOUNDS.map(({ over }) => over.length))
  return CPU_BOUNDS.map(({ over, atMost }) => {
    const bound = atMost(CHART_DIMENSIONS)
    const full = Math.round(bound * BAR)
    return `over ${over.padEnd(widest)} ${full === 0 ? '▌' : '█'.repeat(full)} ${Number(bound.toFixed(2))}`
  })
}
