/** Worker threads under sealed uploads, on one front. */
import { QuotaWatch } from '../../src/server/config/quota-watch.ts'
import { coresSince, cpuTimes, type Cores } from '../../src/server/observe/load-advice.ts'
import { startUploadGateway, type Gateway } from '../transfers/gateway.ts'
import { sample, type TransferSample } from '../transfers/measure.ts'
import type { ScalingOptions } from './options.ts'

export interface WorkersSample extends TransferSample {
  /** Cores of the whole machine during the uploads. */
  readonly cores: Cores
}

/** Rounds that no load reaches: a load ends by its time, not by a number of files. */
const ROUNDS_MOST = 1_000_000
/** Uploads of each connection before each measurement. */
const WARM_ROUNDS = 2

/**
 * @returns one sample of each repeat by number of workers; the nth samples of all numbers were taken together
 */
export async function workers(
  options: ScalingOptions,
  progress: (text: string) => void,
): Promise<ReadonlyMap<number, readonly WorkersSample[]>> {
  const gateways = new Map<number, Gateway>()
  const found = new Map<number, WorkersSample[]>(options.workers.map((count) => [count, []]))
  try {
    for (const count of options.workers) {
      progress(`starting ${count} workers`)
      const gateway = await startUploadGateway({
        isSynced: false,
        settings: { SLUICE_FRONTS: '1', SLUICE_WORKERS: String(count) },
      })
      gateways.set(count, gateway)
      await drive(gateway, options, WARM_ROUNDS)
    }
    for (let repeat = 0; repeat < options.repeats; repeat++) {
      for (const [count, gateway] of repeat % 2 === 0 ? gateways : [...gateways].reverse()) {
        const one = await drive(gateway, options, ROUNDS_MOST)
        progress(`repeat ${repeat + 1} of ${options.repeats}: ${count} workers ${one.mbPerS.toFixed(0)} MB/s`)
        found.get(count)?.push(one)
      }
    }
    return found
  } finally {
    for (const gateway of gateways.values()) await gateway.stop()
  }
}

async function drive(
  gateway: Gateway,
  { seconds, connections, payloadBytes }: ScalingOptions,
  rounds: number,
): Promise<WorkersSample> {
  const [target] = gateway.targets
  if (target === undefined) throw new Error('a gateway without a target of uploads')
  let [times, quota] = [cpuTimes(), new QuotaWatch()]
  let cores: Cores = { all: 0, idle: 0 }
  const one = await sample(
    target,
    { connections, payloadBytes, rounds, durationMs: seconds * 1_000 },
    {
      started: () => {
        quota = new QuotaWatch()
        times = cpuTimes()
      },
      ended: async () => {
        cores = coresSince(times, quota.look())
      },
    },
  )
  return { ...one, cores }
}
