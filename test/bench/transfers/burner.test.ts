import t from 'tap'
import { startBurner } from '../../../bench/transfers/burner.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { processes, treeCpuS } from '../../support/load/process-cpu.ts'

const burners = (): readonly number[] =>
  processes()
    .filter((row) => row.parent === process.pid && row.arguments.some((word) => word.endsWith('burner.js')))
    .map((row) => row.pid)

t.test('a burner burns, no more than it was told, until it is ended', async (t) => {
  const stop = await startBurner({ cores: 0.25, isDetached: true })
  const [pid = 0] = burners()
  const [before, from] = [treeCpuS(pid), performance.now()]
  await pause(2_000)
  const cores = ((treeCpuS(pid) - before) * 1_000) / (performance.now() - from)
  await stop()
  t.ok(cores > 0.02 && cores < 0.6, `${cores} cores`)
  t.same(burners(), [])
})
