/** `npm run bench -- downloads`: container files and sealed files, against servers that only send. */
import { setTimeout as sleep } from 'node:timers/promises'
import { progress } from './keep-record.ts'
import { eachRatio } from './ratios.ts'
import { spread } from './statistics.ts'
import { ROOT } from './text.ts'
import { startDownloadGateway } from './transfers/gateway.ts'
import { sample, type TransferSample } from './transfers/measure.ts'
import { transferOptionsOrExit } from './transfers/options.ts'
import { startBusboy, startFileNginx } from './transfers/peers.ts'
import { growthOf, growthText } from './transfers/report.ts'
import { Bench, SMALL_SIZES } from './transfers/scenario.ts'

/** Bytes a second of a slow reader. */
const READER_BYTES_PER_S = 10e3
/** Repeats below which a median of downloads, which are short, means little. */
const PAIRS_MIN = 5

const options = transferOptionsOrExit(process.argv.slice(2))
const bench = new Bench('downloads', options)
const sizes = [...new Set([...SMALL_SIZES, options.payloadBytes])]
const input = { root: ROOT, downloadBytes: sizes }

try {
  if (bench.runs('speed') || bench.runs('crowd') || bench.runs('sizes')) await beside()
  if (bench.runs('readers') && options.only.includes('sluice')) await slowReaders()
  await bench.report()
} finally {
  await bench.stopServers()
}

async function beside(): Promise<void> {
  await bench.start('nginx', () => startFileNginx(input))
  await bench.start('busboy', () => startBusboy(input))
  await bench.start('sluice', () => startDownloadGateway(sizes))
  if (bench.runs('speed')) speedChecks(await bench.speed(Math.max(PAIRS_MIN, options.repeats)))
  if (bench.runs('crowd')) await bench.crowd()
  if (bench.runs('sizes')) await bench.sizes()
  await bench.stopServers()
}

function speedChecks(found: ReadonlyMap<string, readonly TransferSample[]>): void {
  const of = (name: string): readonly TransferSample[] => found.get(name) ?? []
  const nginx = of('nginx')
  for (const [name, atLeast] of [
    ['sluice-container', 0.95],
    ['sluice-sealed', 0.5],
  ] as const) {
    if (of(name).length === 0 || nginx.length === 0) continue
    const ratio = eachRatio(of(name), nginx, (one) => one.mbPerS)
    bench.check(`download MB/s, ${name} over nginx sendfile`, ratio, {
      bound: { atLeast },
      samples: [...of(name), ...nginx],
      repeats: of(name).length,
    })
  }
}

/**
 * Readers so slow that the file would take them hours: the server still serves all of them at the end, and
 * its memory does not grow with them.
 */
async function slowReaders(): Promise<void> {
  progress(
    `memory: ${options.readers} readers at ${READER_BYTES_PER_S / 1e3} KB/s for ${options.readerSeconds} s`,
  )
  const gateway = bench.keep(await startDownloadGateway([options.payloadBytes]))
  try {
    for (const target of gateway.targets) {
      // One reader of each kind fills the caches that stay.
      await sample(target, {
        connections: 1,
        payloadBytes: options.payloadBytes,
        rounds: 1,
        durationMs: 60_000,
      })
    }
    await sleep(3_000)
    const [target] = gateway.targets
    if (target === undefined) return
    const one = await sample(target, {
      connections: options.readers,
      payloadBytes: options.payloadBytes,
      rounds: 1,
      durationMs: options.readerSeconds * 1_000,
      readBytesPerS: READER_BYTES_PER_S,
      isCutAtEnd: true,
    })
    const text = `${options.readers} readers at ${READER_BYTES_PER_S / 1e3} KB/s for ${options.readerSeconds} s`
    bench.fact(growthText(text, one))
    bench.check(`${text}, alive at the end`, spread([one.alive]), {
      bound: { atLeast: options.readers },
      samples: [one],
      repeats: null,
    })
    bench.check(`RSS growth, ${text}, MB`, spread([growthOf(one) / 1e6]), {
      bound: { atMost: 120 },
      samples: [one],
      repeats: null,
    })
  } finally {
    await bench.stopServers()
  }
}
