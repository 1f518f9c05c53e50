/** An open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second. */
import { REQUESTS_PAGE_MAX, REQUESTS_ROW_REST_MS } from '../../../src/schemas/requests/request-limits.ts'
import { spread } from '../../../bench/statistics.ts'
import { rawClient, type RawClient } from '../../support/wire/raw-http.ts'
import { runLoad } from '../../support/load/load.ts'
import { processRow, treeCpuS } from '../../support/load/process-cpu.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program } from '../proof.ts'

/** Pages that are open, and which. */
interface Open {
  readonly pages: number
  readonly view: 'Now' | 'Requests'
}

/**
 * What is open at once: the first page alone pays for what all share. What is called meanwhile, and how often
 * all are compared.
 */
const WISH = {
  full: {
    open: [
      { pages: 1, view: 'Now' },
      { pages: 5, view: 'Now' },
      { pages: 1, view: 'Requests' },
    ] satisfies Open[],
    rate: 1_000,
    seconds: 8,
    rounds: 4,
  },
  short: { open: [{ pages: 2, view: 'Requests' }] satisfies Open[], rate: 100, seconds: 2, rounds: 1 },
}
const NONE: Open = { pages: 0, view: 'Now' }
const CORE_PERCENT_MAX = 1
/** Seconds before each measurement, in which connections are made and samplers begin. */
const WARM_S = 1
const CONNECTIONS = 16
/** Milliseconds until a view that does not come counts as missing. */
const GIVE_UP_MS = 30_000
/** Milliseconds between two looks of the page Requests, and those that a look reads again. */
const LOOK_MS = 1_000
const AGAIN_MS = 5_000
/** Pages of rows that a look reads at most. */
const LOOK_PAGES_MAX = 4

export const program: Program = {
  text: 'An open page of the dashboard costs the node at most 1 % of a core at 1,000 requests a second',
  async run(proof) {
    const { open, rate, seconds, rounds } = proof.isShort ? WISH.short : WISH.full
    const stand = await startStand({ settings: { SLUICE_FRONTS: proof.isShort ? '1' : '2' } })
    proof.after(() => stand.stop())
    // A cold node costs more than any page.
    if (!proof.isShort) await measured(stand, { open: NONE, rate, seconds: WARM_S })
    const costs = new Map(open.map((one) => [one, [] as number[]]))
    for (let round = 0; round < rounds; round++) {
      const found = new Map<Open, Measured>()
      // Each round in the other direction: what a machine does by itself grows or falls meanwhile.
      const all = proof.isShort ? open : [NONE, ...open]
      const inputs = round % 2 === 0 ? all : all.toReversed()
      for (const one of inputs) found.set(one, await measured(stand, { open: one, rate, seconds }))
      const none = found.get(NONE)?.cores ?? Number.NaN
      for (const one of open)
        costs.get(one)?.push((((found.get(one)?.cores ?? Number.NaN) - none) / one.pages) * 100)
      const isSteady = [...found].every(
        ([{ pages }, { views, failed }]) => views >= pages * (seconds - 1) && failed === 0,
      )
      const text = all.map((one) => `${nameOf(one)}: ${textOf(found.get(one))}`).join('; ')
      proof.check(
        `${round + 1}: pages get views`,
        [...found].every(([{ pages }, { views }]) => pages === 0 || views > 0),
        text,
      )
      proof.checkTimed(`${round + 1}: a view a second, and no call fails`, isSteady, `in ${seconds} s`)
    }
    // The short form asserts no times.
    for (const [one, percents] of proof.isShort ? [] : costs) {
      const { median, min, max } = spread(percents)
      const found = `${median.toFixed(2)} % of a core a page (${min.toFixed(2)} to ${max.toFixed(2)}), median of ${percents.length}`
      proof.checkTimed(
        `${nameOf(one)}: a page costs at most ${CORE_PERCENT_MAX} % of a core`,
        median <= CORE_PERCENT_MAX,
        `${found}, at ${rate} calls a second`,
      )
    }
  },
}

function nameOf({ pages, view }: Open): string {
  return pages === 0 ? 'no page' : `${pages} × ${view}`
}

interface Input {
  readonly open: Open
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

async function measured(stand: Stand, { open, rate, seconds }: Input): Promise<Measured> {
  const { pages, view } = open
  const live = Array.from({ length: pages }, () => openPage(stand))
  await Promise.all(live.map((page) => page.until(/data: \{/)))
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
    viewsOf(live),
  ]
  // A page reads its history every ten seconds: here once in a shorter time.
  if (view === 'Now') await Promise.all(live.map(() => readHistory(stand)))
  else await Promise.all(live.map(() => follow(stand, seconds)))
  if (view === 'Now' || pages === 0) await pause(seconds * 1_000)
  // A stalled supervisor sends its views later.
  const giveUpAt = performance.now() + GIVE_UP_MS
  while (pages > 0 && viewsOf(live) === seen && performance.now() < giveUpAt) await pause(50)
  const tookS = (performance.now() - atMs) / 1_000
  const [cores, supervisorCores] = [
    (treeCpuS(stand.pid) - cpuS) / tookS,
    ((processRow(stand.pid)?.cpuS ?? 0) - ownS) / tookS,
  ]
  const views = viewsOf(live) - seen
  for (const page of live) page.destroy()
  const result = await load
  const failed = Object.entries(result.statuses)
    .filter(([status]) => status !== '200')
    .reduce((sum, [, count]) => sum + count, 0)
  return { cores, supervisorCores, views, failed }
}

function textOf(found: Measured | undefined): string {
  if (found === undefined) return 'not measured'
  const { cores, supervisorCores, views, failed } = found
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

interface Found {
  readonly data: readonly unknown[]
  readonly next_cursor: string | null
}

/** What the page Requests asks while it is live: with each view, for what came since its last look. */
async function follow({ adminPort, keys }: Stand, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    const beganAt = performance.now()
    let rows = 0
    let cursor: string | null = null
    for (let page = 0; page < LOOK_PAGES_MAX && (page === 0 || cursor !== null); page++) {
      const query = new URLSearchParams({
        limit: String(REQUESTS_PAGE_MAX),
        from: new Date(Date.now() - LOOK_MS - AGAIN_MS).toISOString(),
        ...(cursor !== null && { cursor }),
      })
      const answer = await fetch(`http://localhost:${adminPort}/api/v1/admin/requests?${query.toString()}`, {
        headers: { authorization: `Bearer ${keys.management_key}` },
      })
      const found = (await answer.json()) as Found
      cursor = found.next_cursor
      rows += found.data.length
    }
    const nextAt = Math.min(endsAt, beganAt + Math.max(LOOK_MS, rows * REQUESTS_ROW_REST_MS))
    await pause(Math.max(0, nextAt - performance.now()))
  }
}

function viewsOf(pages: readonly RawClient[]): number {
  return pages.reduce((sum, { text }) => sum + text.split('data: {').length - 1, 0)
}
