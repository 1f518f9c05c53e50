/** An open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second. */
import { spread } from '../../../bench/statistics.ts'
import { rawClient, type RawClient } from '../../support/wire/raw-http.ts'
import { runLoad } from '../../support/load/load.ts'
import { processRow, treeCpuS } from '../../support/load/process-cpu.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program } from '../proof.ts'

/**
 * Pages that are open at once: the first alone pays for what all share. What is called meanwhile, and how
 * often all are compared.
 */
const WISH = {
  full: { pages: [1, 5], rate: 1_000, seconds: 8, rounds: 4 },
  short: { pages: [2], rate: 100, seconds: 2, rounds: 1 },
}
const CORE_PERCENT_MAX = 1
/** Seconds before each measurement, in which connections are made and samplers begin. */
const WARM_S = 1
const CONNECTIONS = 16
/** Milliseconds until a view that does not come is none. */
const GIVE_UP_MS = 30_000

export const program: Program = {
  text: 'An open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second',
  async run(proof) {
    const { pages: some, rate, seconds, rounds } = proof.isShort ? WISH.short : WISH.full
    const stand = await startStand({ settings: { SLUICE_FRONTS: proof.isShort ? '1' : '2' } })
    proof.after(() => stand.stop())
    // A cold node costs more than any page.
    if (!proof.isShort) await measured(stand, { pages: 0, rate, seconds: WARM_S })
    const costs = new Map(some.map((pages) => [pages, [] as number[]]))
    for (let round = 0; round < rounds; round++) {
      const found = new Map<number, Measured>()
      // Each round in the other direction: what a machine does by itself grows or falls meanwhile.
      const all = proof.isShort ? some : [0, ...some]
      const inputs = round % 2 === 0 ? all : all.toReversed()
      for (const pages of inputs) found.set(pages, await measured(stand, { pages, rate, seconds }))
      const none = found.get(0)?.cores ?? Number.NaN
      for (const pages of some)
        costs.get(pages)?.push((((found.get(pages)?.cores ?? Number.NaN) - none) / pages) * 100)
      const isSteady = [...found].every(
        ([pages, { views, failed }]) => views >= pages * (seconds - 1) && failed === 0,
      )
      const text = [...found]
        .sort(([a], [b]) => a - b)
        .map(([pages, one]) => `${pages} pages: ${textOf(one)}`)
        .join('; ')
      proof.check(
        `${round + 1}: pages get views`,
        [...found].every(([pages, { views }]) => pages === 0 || views > 0),
        text,
      )
      proof.checkTimed(`${round + 1}: a view a second, and no call fails`, isSteady, `in ${seconds} s`)
    }
    // The short form asserts no times.
    for (const [pages, percents] of proof.isShort ? [] : costs) {
      const { median, min, max } = spread(percents)
      const found = `${median.toFixed(2)} % of a core a page (${min.toFixed(2)} to ${max.toFixed(2)}), median of ${percents.length}`
      proof.checkTimed(
        `${pages} open: a page costs at most ${CORE_PERCENT_MAX} % of a core`,
        median <= CORE_PERCENT_MAX,
        `${found}, at ${rate} calls a second`,
      )
    }
  },
}

interface Input {
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

async function measured(stand: Stand, { pages, rate, seconds }: Input): Promise<Measured> {
  const open = Array.from({ length: pages }, () => openPage(stand))
  await Promise.all(open.map((page) => page.until(/data: \{/)))
  const load = runLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: CONNECTIONS,
    pace: { kind: 'open', ratePerS: rate },
    durationMs: (seconds + 2 * WARM_S) * 1_000,
    requests: [stand.embeddings()],
  })
  await pause(WARM_S * 1_000)
  const [cpuS, ownS, atMs, seen] = [
    treeCpuS(stand.pid),
    processRow(stand.pid)?.cpuS ?? 0,
    performance.now(),
    viewsOf(open),
  ]
  // A page reads its history every ten seconds: here once in a shorter time.
  await Promise.all(open.map(() => readHistory(stand)))
  await pause(seconds * 1_000)
  // A supervisor that stalls tells its views later.
  const giveUpAt = performance.now() + GIVE_UP_MS
  while (pages > 0 && viewsOf(open) === seen && performance.now() < giveUpAt) await pause(50)
  const tookS = (performance.now() - atMs) / 1_000
  const [cores, supervisorCores] = [
    (treeCpuS(stand.pid) - cpuS) / tookS,
    ((processRow(stand.pid)?.cpuS ?? 0) - ownS) / tookS,
  ]
  const views = viewsOf(open) - seen
  for (const page of open) page.destroy()
  const result = await load
  const failed = Object.entries(result.statuses)
    .filter(([status]) => status !== '200')
    .reduce((sum, [, count]) => sum + count, 0)
  return { cores, supervisorCores, views, failed }
}

function textOf({ cores, supervisorCores, views, failed }: Measured): string {
  const more = failed === 0 ? '' : `, ${failed} calls failed`
  return `${cores.toFixed(3)} cores, of the supervisor ${supervisorCores.toFixed(3)}, ${views} views${more}`
}

function openPage({ adminPort, keys }: Stand): RawClient {
  const page = rawClient(adminPort)
  page.send(
    `GET /api/v1/admin/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${keys.management_key}\r\n\r\n`,
  )
  return page
}

async function readHistory({ adminPort, keys }: Stand): Promise<void> {
  const answer = await fetch(`http://localhost:${adminPort}/api/v1/admin/history?by=operation`, {
    headers: { authorization: `Bearer ${keys.management_key}` },
  })
  await answer.arrayBuffer()
}

function viewsOf(pages: readonly RawClient[]): number {
  return pages.reduce((sum, { text }) => sum + text.split('data: {').length - 1, 0)
}
