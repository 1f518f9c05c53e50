/**
 * `npm run bench -- uploads`: the cost of receiving, checking, sealing and storing files, against servers
 * that only receive.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { progress } from './keep-record.ts'
import { eachRatio } from './ratios.ts'
import { spread } from './statistics.ts'
import { ROOT } from './text.ts'
import { floorLines, floorsOf, type Floored } from './transfers/floors.ts'
import { startUploadGateway, type Gateway } from './transfers/gateway.ts'
import { growth, sample, type TransferSample } from './transfers/measure.ts'
import { transferOptionsOrExit } from './transfers/options.ts'
import { FILE_KINDS } from './transfers/payload.ts'
import { startBusboy, startFileNginx, startTus } from './transfers/peers.ts'
import { growthOf, growthText, memoryText } from './transfers/report.ts'
import { totalOf } from './transfers/resources.ts'
import { startS3Sink } from './transfers/s3-sink.ts'
import { Bench } from './transfers/scenario.ts'
import { besideTransfers, type Latency } from './transfers/tiny.ts'

/** Bytes a second of the slow bucket. */
const SLOW_BYTES_PER_S = 5e6
/** Concurrent uploads into the slow bucket. */
const SLOW_UPLOADS = 8
/** Milliseconds for which these uploads are watched. */
const SLOW_MS = 20_000
/** Milliseconds after which no upload begins. */
const LONG_MS = 120_000

const options = transferOptionsOrExit(process.argv.slice(2))
const bench = new Bench('uploads', options)
const input = { root: ROOT, downloadBytes: [] }

try {
  if (bench.runs('speed') || bench.runs('crowd') || bench.runs('sizes') || bench.runs('tiny')) await beside()
  if (options.only.includes('sluice')) {
    if (bench.runs('floors')) await floors()
    if (bench.runs('memory')) await memory('disk', {})
    if (bench.runs('s3')) await intoS3()
    if (bench.runs('sink')) await slowSink()
  }
  await bench.report()
} finally {
  await bench.stopServers()
}

/** All comparisons with other servers, which stay up between the sections. */
async function beside(): Promise<void> {
  if (bench.runs('speed') || bench.runs('crowd') || bench.runs('sizes')) {
    await bench.start('nginx', () => startFileNginx(input))
    await bench.start('busboy', () => startBusboy(input))
    await bench.start('tus', () => startTus(input))
    await bench.start('sluice', () => startUploadGateway({ isSynced: false }))
  }
  const gateway = await bench.start('sluice', () =>
    startUploadGateway({ isSynced: true, kinds: ['media', 'a text'] }),
  )
  if (bench.runs('speed')) speedChecks(await bench.speed(options.repeats))
  if (bench.runs('crowd')) await bench.crowd()
  if (bench.runs('sizes')) await bench.sizes()
  if (bench.runs('tiny') && gateway !== null) await tiny(gateway)
  await bench.stopServers()
}

function speedChecks(found: ReadonlyMap<string, readonly TransferSample[]>): void {
  const of = (name: string): readonly TransferSample[] => found.get(name) ?? []
  const compare = (text: string, over: string, under: string, more: Compared): void => {
    if (of(over).length === 0 || of(under).length === 0) return
    const ratio = eachRatio(of(over), of(under), more.read)
    const samples = [...of(over), ...of(under)]
    bench.check(text, ratio, { bound: more.bound, samples, repeats: of(over).length })
  }
  const mbPerS = (one: TransferSample): number => one.mbPerS
  const mainPerGb = (one: TransferSample): number => one.mainPerGb
  compare('upload MB/s without fsync, sluice over nginx', 'sluice-unsynced', 'nginx', {
    read: mbPerS,
    bound: { atLeast: 0.35 },
  })
  compare('main-thread CPU a GB, sluice over node:http + busboy', 'sluice', 'busboy', {
    read: mainPerGb,
    bound: { atMost: 1 },
  })
  for (const [over, under] of [
    ['sluice', 'nginx'],
    ['sluice', 'busboy-synced'],
  ] as const) {
    const ratio = eachRatio(of(over), of(under), mbPerS)
    const text = under === 'nginx' ? 'nginx, which does not' : 'node:http + busboy with fsync'
    if (Number.isFinite(ratio.median))
      bench.fact(`upload MB/s with fsync over ${text}: ${ratio.median.toFixed(2)}`)
  }
}

interface Compared {
  readonly read: (one: TransferSample) => number
  readonly bound: { readonly atLeast: number } | { readonly atMost: number }
}

async function tiny(gateway: Gateway): Promise<void> {
  const [target] = gateway.targets
  if (target === undefined) return
  const repeats = []
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    const one = await besideTransfers(gateway, target, options)
    const { besideLoad: near, besideBurner: burner, load: transfers } = one
    progress(
      `tiny GET p99: ${near.p99.toFixed(1)} ms beside uploads, ${burner.p99.toFixed(1)} ms beside a burner`,
    )
    bench.fact(
      `tiny GET beside ${options.connections} uploads at ${transfers.mbPerS.toFixed(0)} MB/s: ${latencyText(near)}; ` +
        `beside a burner of ${(transfers.serverCores + transfers.generatorCores).toFixed(2)} cores: ${latencyText(burner)}`,
    )
    repeats.push(one)
  }
  const samples = repeats.flatMap((one) => [one.load, one.besideLoad, one.besideBurner])
  const ratio = spread(repeats.map((one) => one.besideLoad.p99 / one.besideBurner.p99))
  const loop = spread(repeats.map((one) => one.load.loopP99Ms ?? Number.NaN))
  bench.check('p99 of a tiny GET, beside uploads over beside a burner', ratio, {
    bound: { atMost: 2 },
    samples,
    repeats: repeats.length,
  })
  bench.check('event-loop delay p99 beside uploads, ms', loop, {
    bound: { atMost: 10 },
    samples,
    repeats: repeats.length,
  })
}

function latencyText({ p50, p99 }: Latency): string {
  return `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms`
}

/** The uploads of each kind of file, next to what their steps take alone. */
async function floors(): Promise<void> {
  const gateway = bench.keep(await startUploadGateway({ isSynced: true, kinds: FILE_KINDS }))
  try {
    const found = await bench.speed(options.repeats)
    const floored: Floored[] = []
    for (const [nth, kind] of FILE_KINDS.entries()) {
      progress(`floors of ${kind}`)
      const samples = found.get(gateway.targets[nth]?.name ?? '') ?? []
      floored.push({ kind, samples, floors: await floorsOf(kind, options) })
    }
    for (const line of floorLines(floored)) bench.fact(line)
  } finally {
    await bench.stopServers()
  }
}

/** Memory of a new node during uploads of one kind. */
async function memory(place: string, settings: Readonly<Record<string, string>>): Promise<void> {
  progress(`memory: ${options.crowd} uploads to ${place}`)
  const gateway = bench.keep(await startUploadGateway({ isSynced: true, settings }))
  try {
    const [target] = gateway.targets
    if (target === undefined) return
    const ask = {
      connections: options.crowd,
      payloadBytes: options.payloadBytes,
      rounds: 1,
      durationMs: LONG_MS,
    }
    const found = await growth(target, ask)
    const samples = [found.sample]
    const left = totalOf(found.after) - totalOf(found.sample.idle)
    const text = `${options.crowd} uploads of ${options.payloadBytes / 1e6} MB to ${place}`
    bench.rows(`memory, to ${place}`, ask, new Map([[target.name, samples]]))
    bench.fact(`${growthText(text, found.sample)}; within 10 s ${memoryText(found.after)}`)
    bench.check(`RSS growth, ${text}, MB`, spread([growthOf(found.sample) / 1e6]), {
      bound: { atMost: 200 },
      samples,
      repeats: null,
    })
    bench.check(`RSS growth within 10 s after, ${text}, MB`, spread([left / 1e6]), {
      bound: { atMost: 40 },
      samples,
      repeats: null,
    })
  } finally {
    await bench.stopServers()
  }
}

async function intoS3(): Promise<void> {
  const sink = await startS3Sink(null)
  try {
    await memory('S3', sink.settings)
  } finally {
    await sink.stop()
  }
}

/** Uploads into a bucket that accepts 5 MB/s in all; they are cut after their memory is measured. */
async function slowSink(): Promise<void> {
  progress(`memory: ${SLOW_UPLOADS} uploads into a slow bucket`)
  const sink = await startS3Sink(SLOW_BYTES_PER_S)
  const gateway = bench.keep(await startUploadGateway({ isSynced: true, settings: sink.settings }))
  try {
    const [target] = gateway.targets
    if (target === undefined) return
    await sample(target, { connections: 1, payloadBytes: 10e6, rounds: 1, durationMs: LONG_MS })
    await sleep(3_000)
    const one = await sample(target, {
      connections: SLOW_UPLOADS,
      payloadBytes: options.payloadBytes,
      rounds: 1,
      durationMs: SLOW_MS,
      isCutAtEnd: true,
    })
    const text = `${SLOW_UPLOADS} uploads into a bucket of ${SLOW_BYTES_PER_S / 1e6} MB/s`
    bench.fact(growthText(text, one))
    bench.check(`RSS growth, ${text}, MB`, spread([growthOf(one) / 1e6]), {
      bound: { atMost: 64 },
      samples: [one],
      repeats: null,
    })
  } finally {
    await bench.stopServers()
    await sink.stop()
  }
}
