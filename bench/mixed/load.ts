/**
 * The mixed load: 90 % embeddings, 5 % reads, 4 % uploads of 1 to 20 MB, 1 % videos, each at its share of one
 * fixed rate.
 */
import { runLoad, startLoad, type RunningLoad } from '../../test/support/load/load.ts'
import type { LoadPlan, LoadResult } from '../../test/support/load/load-plan.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { openFiles, type MixedFiles } from './files.ts'
import { MIXED_KINDS, MIXED_SHARES, MIXED_STATUSES, mixedRequests, mixInTurn, type MixedKind } from './mix.ts'

export interface MixedInput {
  /** Requests a second of all kinds together. */
  readonly ratePerS: number
  /** Milliseconds; absent: until the load is stopped. */
  readonly durationMs?: number
  readonly warmUpMs?: number
  /** Connections of all kinds together; slower kinds have more than their share. */
  readonly connections?: number
  /** Seed of the files' sizes. */
  readonly seed?: number
  /** Milliseconds for what was due at the end, and for each answer; absent: the generator's own. */
  readonly patienceMs?: number
}

export interface MixedResult {
  readonly kinds: Readonly<Record<MixedKind, LoadResult>>
  /** Requests without the expected answer. */
  readonly failed: number
  /** The first failures, each with its kind. */
  readonly failures: readonly string[]
}

export interface MixedLoad {
  readonly result: Promise<MixedResult>
  stop(): Promise<MixedResult>
}

const CONNECTIONS = 48
const FOREVER_MS = 24 * 3_600_000
const SEED = 8
/** Shares of the connections. */
const CONNECTION_SHARES: Readonly<Record<MixedKind, number>> = {
  embeddings: 0.6,
  reads: 0.1,
  uploads: 0.2,
  videos: 0.1,
}

/**
 * One generator process for each kind: the CPU that an upload of 20 MB takes from a generator must not count
 * as latency of an embeddings call.
 */
export async function startMixedLoad(stand: Stand, input: MixedInput): Promise<MixedLoad> {
  const files = await openFiles(stand)
  const requests = mixedRequests({
    embeddings: stand.embeddings(),
    apiKey: stand.keys.inference_key,
    fileId: files.keptId,
    seed: input.seed ?? SEED,
  })
  const running = await Promise.all(
    MIXED_KINDS.map(
      async (kind) =>
        [
          kind,
          await startLoad({
            ...planOf(stand, input),
            requests: requests[kind],
            isInTurn: true,
            connections: Math.max(
              2,
              Math.round((input.connections ?? CONNECTIONS) * CONNECTION_SHARES[kind]),
            ),
            pace: { kind: 'open', ratePerS: (input.ratePerS * MIXED_SHARES[kind]) / 100 },
          }),
        ] as const,
    ),
  )
  const result = resultOf(running, files)
  return {
    result,
    async stop() {
      await Promise.all(running.map(([, load]) => load.stop()))
      return result
    },
  }
}

/** The same hundred requests by a closed loop: the machine's ceiling for the mix. */
export async function mixedCeiling(stand: Stand, input: Omit<MixedInput, 'ratePerS'>): Promise<LoadResult> {
  const files = await openFiles(stand)
  try {
    const requests = mixedRequests({
      embeddings: stand.embeddings(),
      apiKey: stand.keys.inference_key,
      fileId: files.keptId,
      seed: input.seed ?? SEED,
    })
    return await runLoad({
      ...planOf(stand, input),
      requests: mixInTurn(requests),
      isInTurn: true,
      connections: input.connections ?? CONNECTIONS,
      pace: { kind: 'closed' },
    })
  } finally {
    await files.close()
  }
}

type Span = Pick<LoadPlan, 'host' | 'port' | 'durationMs' | 'warmUpMs' | 'drainMs' | 'answerTimeoutMs'>

function planOf(
  stand: Stand,
  { durationMs = FOREVER_MS, warmUpMs = 0, patienceMs }: Omit<MixedInput, 'ratePerS'>,
): Span {
  const patience = patienceMs === undefined ? {} : { drainMs: patienceMs, answerTimeoutMs: patienceMs }
  return { host: '127.0.0.1', port: stand.port, durationMs, warmUpMs, ...patience }
}

async function resultOf(
  running: readonly (readonly [MixedKind, RunningLoad])[],
  files: MixedFiles,
): Promise<MixedResult> {
  try {
    const found = await Promise.all(running.map(async ([kind, load]) => [kind, await load.result] as const))
    const kinds = Object.fromEntries(found) as Record<MixedKind, LoadResult>
    return {
      kinds,
      failed: found.reduce((sum, [kind, result]) => sum + failedOf(kind, result), 0),
      failures: found.flatMap(([kind, result]) => reasonsOf(kind, result)),
    }
  } finally {
    await files.close()
  }
}

export function failedOf(kind: MixedKind, { requests, statuses }: LoadResult): number {
  return requests - (statuses[MIXED_STATUSES[kind]] ?? 0)
}

export function reasonsOf(kind: MixedKind, { statuses, failures }: LoadResult): readonly string[] {
  const wrong = Object.entries(statuses).filter(
    ([status]) => status !== '0' && status !== String(MIXED_STATUSES[kind]),
  )
  return [
    ...wrong.map(([status, count]) => `${kind}: ${status} × ${count}`),
    ...failures.map((reason) => `${kind}: ${reason}`),
  ]
}
