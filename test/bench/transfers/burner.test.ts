import t from 'tap'
import { startBurner } from '../../../bench/transfers/burner.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { processes, treeCpuS } from '../../support/load/process-cpu.ts'

const burners = (): readonly number[] =>
  processes()
    .filter((row) => row.parent === process.pid && row.arguments.some((word) => word.endsWith('burner.js')))
    .map((row) => row.pid)

t.setTimeout(600_000)

const LOOK_MS = 1_000
/** One that stood still burns more for a while, and its own start takes CPU. */
const LOOKS_MAX = 30

async function coresOf(pid: number): Promise<number> {
  const [before, from] = [treeCpuS(pid), performance.now()]
  await pause(LOOK_MS)
  return ((treeCpuS(pid) - before) * 1_000) / (performance.now() - from)
}

t.test('a burner uses no more than its share of CPU, until it is ended', async (t) => {
  const stop = await startBurner({ cores: 0.25, isDetached: true })
  const [pid = 0] = burners()
  const isAsReported = (cores: number): boolean => cores > 0.02 && cores < 0.6
  const seen: number[] = []
  while (seen.length < LOOKS_MAX && !isAsReported(seen.at(-1) ?? 0)) seen.push(await coresOf(pid))
  await stop()
  t.ok(isAsReported(seen.at(-1) ?? 0), `${seen.join(', ')} cores`)
  t.same(burners(), [])
})
