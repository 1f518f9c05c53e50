/** Calls that go on while nodes are replaced: embeddings, streams of each form, and jobs. */
import { startLoad } from '../../../support/load/load.ts'
import type { LoadResult } from '../../../support/load/load-plan.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { embeddingsRequest } from '../../../support/nodes/stand.ts'
import { startCall, type PacedCall } from '../../inference/paced/callers.ts'
import { drawDialect } from '../../inference/paced/dialects.ts'
import { PACED_MODEL } from '../../inference/paced/stand.ts'
import type { Proof } from '../../proof.ts'
import { VideoClient, type Accepted } from '../../videos/offers.ts'
import { modelOf, SUBMIT_KINDS } from '../../videos/video-stand.ts'
import type { Installation } from '../installation.ts'
import type { Providers } from './providers.ts'

interface Rates {
  readonly embeddingsPerS: number
  readonly streamEveryMs: number
  readonly jobEveryMs: number
}

const FULL: Rates = { embeddingsPerS: 200, streamEveryMs: 50, jobEveryMs: 200 }
const SHORT: Rates = { embeddingsPerS: 20, streamEveryMs: 250, jobEveryMs: 500 }
/** Words of a stream: a second and a half. */
const WORDS = 15
const FOREVER_MS = 3_600_000
/** Of the short form, for a slow machine. */
const ANSWER_MS_MAX = 120_000

export interface Traffic {
  readonly embeddings: LoadResult
  readonly streams: readonly PacedCall[]
  readonly jobs: {
    readonly offered: number
    readonly accepted: readonly Accepted[]
    /** Answers that were no acceptance, by status. */
    readonly refused: Readonly<Record<number, number>>
  }
}

export interface RunningTraffic {
  /** Nothing begins any more; what is under way is waited for. */
  stop(): Promise<Traffic>
}

export async function startTraffic(
  proof: Proof,
  { port, keys }: Installation,
  { receiver }: Pick<Providers, 'receiver'>,
): Promise<RunningTraffic> {
  const rates = proof.isShort ? SHORT : FULL
  const client = new VideoClient(port, keys.inference_key)
  proof.teardown(() => client.close())
  const load = await startLoad({
    host: '127.0.0.1',
    port,
    connections: 16,
    durationMs: FOREVER_MS,
    // In short no more at once than a slow machine answers.
    ...(proof.isShort
      ? { pace: { kind: 'closed' }, ratePerSMax: rates.embeddingsPerS, answerTimeoutMs: ANSWER_MS_MAX }
      : { pace: { kind: 'open', ratePerS: rates.embeddingsPerS } }),
    requests: [embeddingsRequest(keys.inference_key)],
  })
  const streams = steadily(rates.streamEveryMs, async (nth) => {
    const dialect = drawDialect((below) => proof.random(below))
    const asked = { id: `upgrade-${proof.seed}-${nth}`, words: WORDS }
    const call = startCall({ port, model: PACED_MODEL }, { key: keys.inference_key, dialect, asked })
    await call.over
    return call
  })
  const refused: Record<number, number> = {}
  const jobs = steadily(rates.jobEveryMs, (nth) => {
    const model = modelOf(SUBMIT_KINDS[nth % SUBMIT_KINDS.length] ?? 'token')
    const offer = { nth, tag: `job ${proof.seed}-${nth};`, model, callbackUrl: `${receiver.origin}/${nth}` }
    return client.offer(offer, ({ status }) => void (refused[status] = (refused[status] ?? 0) + 1))
  })
  return {
    async stop() {
      const [embeddings, called, offered] = await Promise.all([load.stop(), streams.stop(), jobs.stop()])
      const accepted = offered.filter((one) => one !== null)
      return { embeddings, streams: called, jobs: { offered: offered.length, accepted, refused } }
    },
  }
}

/** Begins one after the other at a steady pace, whatever becomes of earlier ones. */
function steadily<T>(everyMs: number, begin: (nth: number) => Promise<T>): { stop(): Promise<readonly T[]> } {
  const begun: Promise<T>[] = []
  let isStopped = false
  const beganAt = performance.now()
  const run = async (): Promise<void> => {
    while (!isStopped) {
      begun.push(begin(begun.length))
      await pause(Math.max(0, beganAt + begun.length * everyMs - performance.now()))
    }
  }
  const running = run()
  return {
    async stop() {
      isStopped = true
      await running
      return Promise.all(begun)
    },
  }
}
