import { startLoad } from '../../test/support/load/load.ts'
import { tree } from '../../test/support/load/process-cpu.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { answeredPerS, latencyUs } from '../measure.ts'
import { isFront, type Gateway } from '../transfers/gateway.ts'
import { cpuBetween, readCpu, readMemory, totalOf, type CpuReading } from '../transfers/resources.ts'
import { HEAD_MS } from '../transfers/options.ts'
import { besideLoad, tinyLatency, type Busy } from '../transfers/tiny.ts'
import { WARM_UP_MS, type VaultOptions } from './options.ts'
import { WRITE_CONNECTIONS, type VaultRepeat, type Writes } from './report.ts'
import { writes } from './writes.ts'

type Input = Pick<VaultOptions, 'seconds' | 'ratePerS'> & {
  /** Begins the names of its secrets. */
  readonly series: string
}

export async function warm(gateway: Gateway, { ratePerS }: Pick<Input, 'ratePerS'>): Promise<void> {
  await tinyLatency(gateway, WARM_UP_MS)
  const ofReads = { mainS: 0, threadsS: 0, restS: 0 }
  await write(gateway.stand, { series: 'w', ratePerS, durationMs: WARM_UP_MS, ofReads, started: () => {} })
}

/** Reads alone, beside writes, and beside a burner with the CPU of the writes. */
export async function measure(gateway: Gateway, { seconds, ratePerS, series }: Input): Promise<VaultRepeat> {
  const tinyMs = seconds * 1_000
  const before = readCpu(gateway.stand.pid, isFront)
  const alone = await tinyLatency(gateway, tinyMs / 2)
  const ofReads = perSecond(cpuBetween(before, readCpu(gateway.stand.pid, isFront)), tinyMs / 2)
  let loopP99Ms: number | null = null
  const run = async (started: () => void): Promise<Writes & Busy> => {
    await gateway.loopP99Ms()
    const one = await write(gateway.stand, {
      ratePerS,
      series,
      durationMs: tinyMs + 2 * HEAD_MS,
      ofReads,
      started,
    })
    loopP99Ms = await gateway.loopP99Ms()
    return one
  }
  const { besideLoad: beside, besideBurner: burner, load } = await besideLoad(gateway, { tinyMs, run })
  return { alone, beside, burner, writes: load, loopP99Ms, burnerLoopP99Ms: await gateway.loopP99Ms() }
}

interface WriteInput {
  readonly series: string
  readonly ratePerS: number
  readonly durationMs: number
  /** CPU seconds a second of the reads beside the writes, which are subtracted. */
  readonly ofReads: CpuReading
  readonly started: () => void
}

async function write(
  stand: Stand,
  { series, ratePerS: offeredPerS, durationMs, ofReads, started }: WriteInput,
): Promise<Writes & Busy> {
  const requests = writes(stand.keys.inference_key, {
    series,
    count: Math.ceil((durationMs / 1_000) * offeredPerS),
  })
  const before = readCpu(stand.pid, isFront)
  const load = await startLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: WRITE_CONNECTIONS,
    pace: { kind: 'open', ratePerS: offeredPerS },
    durationMs,
    requests,
    isInTurn: true,
  })
  const beganAt = performance.now()
  started()
  const result = await load.result
  const cpu = perSecond(cpuBetween(before, readCpu(stand.pid, isFront)), performance.now() - beganAt)
  const own = {
    mainS: cpu.mainS - ofReads.mainS,
    threadsS: cpu.threadsS - ofReads.threadsS,
    restS: cpu.restS - ofReads.restS,
  }
  const ratePerS = answeredPerS(result)
  const perWriteUs = (cores: number): number => (cores / ratePerS) * 1e6
  return {
    ratePerS,
    failed: result.requests - (result.statuses[200] ?? 0),
    failures: [...Object.keys(result.statuses).filter((status) => status !== '200'), ...result.failures],
    latencyUs: latencyUs(result),
    rssMb: totalOf(readMemory(tree(stand.pid))) / 1e6,
    mainUs: perWriteUs(own.mainS),
    threadsUs: perWriteUs(own.threadsS),
    restUs: perWriteUs(own.restS),
    serverCores: Math.max(0, own.mainS + own.threadsS + own.restS),
    generatorCores: result.generatorCores,
  }
}

function perSecond({ mainS, threadsS, restS }: CpuReading, ms: number): CpuReading {
  const seconds = ms / 1_000
  return { mainS: mainS / seconds, threadsS: threadsS / seconds, restS: restS / seconds }
}
