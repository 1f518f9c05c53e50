/** Issue 9, acceptance 2: an open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second. */
import { spread } from '../../bench/statistics.ts'
import { rawClient, type RawClient } from '../support/raw-http.ts'
import { runLoad } from '../support/load.ts'
import { processRow, treeCpuS } from '../support/process-cpu.ts'
import { pause } from '../support/spawned.ts'
import { startStand, type Stand } from '../support/stand.ts'
import type { Program } from './proof.ts'

/** Pages that are open at once, what is called meanwhile, and how often both are compared. */
const WISH = {
  full: { pages: 5, rate: 1_000, seconds: 10, pairs: 4 },
  short: { pages: 2, rate: 100, seconds: 2, pairs: 1 },
}
const CORE_PERCENT_MAX = 1
/** Seconds before each measurement, in which connections are made and samplers begin. */
const WARM_S = 1
const CONNECTIONS = 16

export const program: Program = {
  text: 'An open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second (issue 9, acceptance 2)',
  async run(proof) {
    const { pages, rate, seconds, pairs } = proof.isShort ? WISH.short : WISH.full
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' } })
    proof.after(() => stand.stop())
    // A cold node costs more than any page.
    await measured(stand, { pages, rate, seconds: WARM_S })
    const costs: number[] = []
    for (let pair = 0; pair < pairs; pair++) {
      // Each pair in the other order: what a machine does by itself grows or falls meanwhile.
      const wishes = pair % 2 === 0 ? [0, pages] : [pages, 0]
      const found = new Map<number, Measured>()
      for (const open of wishes) found.set(open, await measured(stand, { pages: open, rate, seconds }))
      const [none, some] = [found.get(0), found.get(pages)]
      if (none === undefined || some === undefined) continue
      const percent = ((some.cores - none.cores) / pages) * 100
      costs.push(percent)
      proof.check(`${pair + 1}: pages get views`, some.views > 0, `${textOf(none)} without pages, ${textOf(some)} with ${pages}`)
      const isSteady = some.views >= pages * (seconds - 1) && some.failed + none.failed === 0
      proof.checkTimed(`${pair + 1}: a view a second, and no call fails`, isSteady, `${some.views} views of ${pages} pages in ${seconds} s`)
    }
    const { median, min, max } = spread(costs)
    const found = `${median.toFixed(2)} % of a core a page (${min.toFixed(2)} to ${max.toFixed(2)}), median of ${costs.length} pairs`
    const text = `an open page costs at most ${CORE_PERCENT_MAX} % of a core`
    proof.checkTimed(text, median <= CORE_PERCENT_MAX, `${found}, with ${pages} and none at ${rate} calls a second`)
  },
}

interface Wish {
  readonly pages: number
  readonly rate: number
  readonly seconds: number
}

interface Measured {
  /** Cores that the node's processes were busy on. */
  readonly cores: number
  /** And the supervisor among them, which writes the views. */
  readonly supervisorCores: number
  readonly views: number
  readonly failed: number
}

async function measured(stand: Stand, { pages, rate, seconds }: Wish): Promise<Measured> {
  const open = Array.from({ length: pages }, () => openPage(stand))
  await Promise.all(open.map((page) => page.until(/data: \{/)))
  const load = runLoad({
    host: '127.0.0.1', port: stand.port, connections: CONNECTIONS, pace: { kind: 'open', ratePerS: rate }, durationMs: (seconds + 2 * WARM_S) * 1_000,
    requests: [stand.embeddings()],
  })
  await pause(WARM_S * 1_000)
  const [cpuS, ownS, atMs, seen] = [treeCpuS(stand.pid), processRow(stand.pid)?.cpuS ?? 0, performance.now(), viewsOf(open)]
  await pause(seconds * 1_000)
  const tookS = (performance.now() - atMs) / 1_000
  const [cores, supervisorCores] = [(treeCpuS(stand.pid) - cpuS) / tookS, ((processRow(stand.pid)?.cpuS ?? 0) - ownS) / tookS]
  const views = viewsOf(open) - seen
  for (const page of open) page.destroy()
  const result = await load
  const failed = Object.entries(result.statuses).filter(([status]) => status !== '200').reduce((sum, [, count]) => sum + count, 0)
  return { cores, supervisorCores, views, failed }
}

function textOf({ cores, supervisorCores, failed }: Measured): string {
  const more = failed === 0 ? '' : `, ${failed} calls failed`
  return `${cores.toFixed(3)} cores (supervisor ${supervisorCores.toFixed(3)})${more}`
}

function openPage({ adminPort, keys }: Stand): RawClient {
  const page = rawClient(adminPort)
  page.send(`GET /api/v1/admin/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${keys.management_key}\r\n\r\n`)
  return page
}

function viewsOf(pages: readonly RawClient[]): number {
  return pages.reduce((sum, { text }) => sum + text.split('data: {').length - 1, 0)
}
