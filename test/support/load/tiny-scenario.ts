/**
 * A scenario as small as one can be: two servers of node:http that burn CPU for each request, one of them by
 * as much more as is planted.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { keepRecord } from '../../../bench/keep-record.ts'
import { sampleOf } from '../../../bench/measure.ts'
import { resultRow, type SampleRecord } from '../../../bench/record.ts'
import { plainEnvironment, runLoad } from './load.ts'
import { treeCpuS } from './process-cpu.ts'
import { freePort, stopServer, untilListening } from '../nodes/spawned.ts'

/**
 * Microseconds; enough that the system's clock, which ticks a hundred times a second, shows the difference.
 */
const BURN_US = 700
const REQUESTS = 200
const LONG_MS = 60_000

/** By the process' own clock: a crowded machine makes it slower, not more. */
function burn(us: number): void {
  const from = process.cpuUsage()
  for (let used = 0; used < us;) {
    const { user, system } = process.cpuUsage(from)
    used = user + system
  }
}

async function serve(port: number, us: number): Promise<void> {
  createServer((_request, response) => {
    burn(us)
    response.end('{}')
  }).listen(port, '127.0.0.1')
  await once(process, 'disconnect')
  process.exit(0)
}

async function measure(slowerPercent: number, repeats: number, file: string | null): Promise<void> {
  const servers = await Promise.all(
    [
      ['sluice', BURN_US * (1 + slowerPercent / 100)],
      ['node', BURN_US],
    ].map(async ([name, us]) => {
      const port = await freePort()
      const child = fork(fileURLToPath(import.meta.url), ['serve', String(port), String(us)], {
        env: plainEnvironment(),
        execArgv: [],
      })
      await untilListening(port, { child, output: () => '' })
      const samples: SampleRecord[] = []
      return { name: String(name), port, child, samples }
    }),
  )
  for (let repeat = 0; repeat <= repeats; repeat++) {
    for (const { child, port, samples } of servers) {
      const before = treeCpuS(child.pid ?? 0)
      const result = await runLoad({
        host: '127.0.0.1',
        port,
        connections: 2,
        durationMs: LONG_MS,
        requestsMax: REQUESTS,
        pace: { kind: 'closed' },
        requests: [{ method: 'GET', path: '/', headers: {}, body: '' }],
      })
      const cpuS = treeCpuS(child.pid ?? 0) - before
      // The first one warms up. The rate is left out: other programs may use the machine.
      if (repeat > 0)
        samples.push({
          ...sampleOf(result, { cpuS, rssBytes: null, successStatus: 200 }),
          requests_per_second: Number.NaN,
        })
    }
  }
  for (const { child } of servers) await stopServer(child)
  await keepRecord(
    {
      scenario: 'tiny',
      question: 'whether a planted slowdown is found',
      settings: { slowerPercent },
      subjects: [],
      absent: [],
      ratios: [],
      curves: [],
      checks: [],
      rows: servers.map(({ name, samples }) =>
        resultRow(
          {
            scenario: 'tiny',
            case: 'burning',
            subject: name,
            pace: 'closed',
            connections: 2,
            offered_per_second: null,
            payload_bytes: null,
          },
          samples,
        ),
      ),
      notes: [],
    },
    file,
  )
}

if (process.argv[2] === 'serve') await serve(Number(process.argv[3]), Number(process.argv[4]))
else {
  const { values } = parseArgs({
    options: {
      slower: { type: 'string', default: '0' },
      repeats: { type: 'string', default: '8' },
      record: { type: 'string' },
    },
  })
  await measure(Number(values.slower), Number(values.repeats), values.record ?? null)
}
