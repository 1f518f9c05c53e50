/** The plan of a load test of a deployment, made before the first request: one line describes it whole. */
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { prefixOf, type AnyOperation } from '../../src/server/operations/define.ts'
import type { LoadPace, LoadRequest } from '../../test/support/load/load-plan.ts'
import { ADDRESSES_MAX, DEPLOYMENT_UPLOADS_PER_S_MAX, OPERATION_SECONDS, REMOVALS_MAX } from './limits.ts'
import type { Origin } from './origin.ts'

export const DEPLOYMENT_LOADS = ['embeddings', 'latency', 'operations', 'uploads'] as const
export type DeploymentLoad = (typeof DEPLOYMENT_LOADS)[number]

export interface DeploymentOptions {
  readonly origin: Origin
  readonly key: string
  /** PEM; null: the issuers that the system trusts. */
  readonly issuers: string | null
  readonly loads: readonly DeploymentLoad[]
  readonly model: string
  /** Requests a second at most. */
  readonly rate: number
  /** Seconds of a cell. */
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  /** Bytes of an uploaded file. */
  readonly payloadBytes: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

/** One kind of request for some seconds. */
export interface Cell {
  readonly load: DeploymentLoad
  readonly case: string
  readonly pace: LoadPace
  readonly connections: number
  readonly ratePerS: number
  readonly seconds: number
  readonly request: LoadRequest
  readonly payloadBytes: number | null
}

/** Shares of the highest rate, for latency against offered load. */
export const SHARES: readonly number[] = [0.1, 0.25, 0.5, 0.75, 1]
/**
 * Milliseconds at the head of a cell of a fixed rate that are not counted: connections open in them. They are
 * part of the cell's seconds.
 */
export const SETTLE_MS = 300
/** Seconds after a cell of a fixed rate for late answers. */
export const DRAIN_SECONDS = 2
/** Requests before the load: the key at each tried address, an embedding, and each operation once. */
const FIRST = ADDRESSES_MAX + 1

export type Input = Pick<
  DeploymentOptions,
  'loads' | 'model' | 'rate' | 'seconds' | 'repeats' | 'connections' | 'payloadBytes'
>

/** The cells of one repeat in their order. */
export function cellsOf(options: Input): readonly Cell[] {
  const { model, rate, connections, seconds } = options
  const embeddings = embeddingsRequest(model)
  const open = { load: 'latency', connections, seconds, request: embeddings, payloadBytes: null } as const
  const all: readonly Cell[] = [
    {
      load: 'embeddings',
      case: `embeddings, ${connections} connections, at most ${rate}/s`,
      pace: { kind: 'polite' },
      connections,
      ratePerS: rate,
      seconds,
      request: embeddings,
      payloadBytes: null,
    },
    ...SHARES.map((share) => share * rate).map((ratePerS): Cell => ({
      ...open,
      case: `embeddings at ${rounded(ratePerS)}/s`,
      pace: { kind: 'open', ratePerS },
      ratePerS,
    })),
    ...READS.map((one): Cell => ({
      load: 'operations',
      case: one.id,
      pace: { kind: 'polite' },
      connections: Math.min(2, connections),
      ratePerS: rate,
      seconds: Math.min(seconds, OPERATION_SECONDS),
      request: readRequest(one),
      payloadBytes: null,
    })),
    {
      load: 'uploads',
      case: `files of ${options.payloadBytes / 1e6} MB`,
      pace: { kind: 'polite' },
      connections: Math.min(2, connections),
      ratePerS: Math.min(rate, DEPLOYMENT_UPLOADS_PER_S_MAX),
      seconds,
      request: { method: 'POST', path: '/api/v1/files', headers: {}, body: '' },
      payloadBytes: options.payloadBytes,
    },
  ]
  return all.filter(({ load }) => options.loads.includes(load))
}

/** Read operations that need no prepared object. */
const READS: readonly AnyOperation[] = OPERATIONS.filter(
  ({ method, path }) => method === 'get' && !path.includes('{'),
)

export function secondsOf(options: Input): number {
  return (
    options.repeats *
    cellsOf(options).reduce(
      (sum, { seconds, pace }) => sum + seconds + (pace.kind === 'open' ? DRAIN_SECONDS : 0),
      0,
    )
  )
}

/**
 * Upper limit of the requests: each cell stays below its rate, and the removal of an uploaded file takes one
 * request or a few.
 */
export function requestsOf(options: Input): number {
  const cells = cellsOf(options)
  const sent = cells.reduce(
    (sum, cell) => sum + requestsOfCell(cell) * (cell.load === 'uploads' ? 1 + REMOVALS_MAX : 1),
    0,
  )
  return FIRST + cells.filter(({ load }) => load === 'operations').length + options.repeats * sent
}

/** Requests of a cell; the first is sent at once. */
export function requestsOfCell({ ratePerS, seconds }: Pick<Cell, 'ratePerS' | 'seconds'>): number {
  return Math.floor(ratePerS * seconds) + 1
}

export function summaryOf(options: DeploymentOptions): string {
  const { origin, loads, rate, connections, model } = options
  const writes = loads.includes('uploads') ? 'files are written and removed again' : 'nothing is written'
  const hasEmbeddings = loads.some((load) => load === 'embeddings' || load === 'latency')
  const cost = hasEmbeddings ? `; embeddings of ${model} are computed, and charged as the catalogue says` : ''
  return (
    `load test of ${origin.text}: ${loads.join(', ')}; at most ${rate} requests per second on ${connections} connections, ` +
    `up to ${secondsOf(options)} s, at most ${requestsOf(options)} requests; ${writes}${cost}`
  )
}

function embeddingsRequest(model: string): LoadRequest {
  const body = JSON.stringify({
    model,
    input: 'The quick brown fox jumps over the lazy dog.',
    encoding_format: 'float',
  })
  return { method: 'POST', path: '/api/v1/embeddings', headers: { 'content-type': 'application/json' }, body }
}

function readRequest(operation: AnyOperation): LoadRequest {
  const given = Object.entries(operation.example.query ?? {}).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const query = new URLSearchParams(given)
  const path = `${prefixOf(operation)}${operation.path}`
  return {
    method: 'GET',
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: {},
    body: '',
  }
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10)
}
