/**
 * Fronts under a load that their handlers limit: large bodies of token ids, read, validated and measured on
 * the event loop.
 */
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { STAND_MODEL, startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { foundOf } from '../sweep/load.ts'
import { accounted, type Ceiling } from '../sweep/measure.ts'
import type { ScalingOptions } from './options.ts'

/**
 * Token ids of one call: about 200 KB, below the size that a front hands to its thread
 * (INLINE_JSON_BYTES_MAX).
 */
const TOKENS = 36_000
/** Largest token id, of a vocabulary of 100,000. */
const TOKEN_MOST = 100_000
/** Milliseconds of load before each measurement. */
const WARM_MS = 2_000

/**
 * @returns one sample of each repeat by number of fronts; the nth samples of all numbers were taken together
 */
export async function fronts(
  options: ScalingOptions,
  progress: (text: string) => void,
): Promise<ReadonlyMap<number, readonly Ceiling[]>> {
  const stands = new Map<number, Stand>()
  const found = new Map<number, Ceiling[]>(options.fronts.map((count) => [count, []]))
  try {
    for (const count of options.fronts) {
      progress(`starting ${count} fronts`)
      const stand = await startStand({
        settings: { SLUICE_FRONTS: String(count), SLUICE_WORKERS: String(count) },
      })
      stands.set(count, stand)
      await drive(stand, options, WARM_MS)
    }
    for (let repeat = 0; repeat < options.repeats; repeat++) {
      for (const [count, stand] of repeat % 2 === 0 ? stands : [...stands].reverse()) {
        const one = await drive(stand, options, options.seconds * 1_000)
        progress(`repeat ${repeat + 1} of ${options.repeats}: ${count} fronts ${one.ratePerS.toFixed(0)}/s`)
        found.get(count)?.push(one)
      }
    }
    return found
  } finally {
    for (const stand of stands.values()) await stand.stop()
  }
}

function drive(stand: Stand, { connections }: ScalingOptions, durationMs: number): Promise<Ceiling> {
  return accounted(stand, async () => {
    const result = await runLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections,
      durationMs,
      pace: { kind: 'closed' },
      requests: [heavyRequest(stand.embeddings())],
    })
    return foundOf(result, result)
  })
}

/** A heavy request. The request always has the same ids, since their values do not affect the cost of reading them. */
export function heavyRequest(like: LoadRequest): LoadRequest {
  const input = Array.from({ length: TOKENS }, (_, at) => (at * 7_919) % TOKEN_MOST)
  return { ...like, body: JSON.stringify({ model: STAND_MODEL, input, encoding_format: 'float' }) }
}
