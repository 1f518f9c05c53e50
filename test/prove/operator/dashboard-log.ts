/** The page Requests with 100,000 calls: how soon what is scrolled or searched to is seen. */
import type { Page } from 'playwright-core'
import { openStore } from '../../../src/server/store/base/open.ts'
import { insertRequests } from '../../../src/server/store/requests/request-rows.ts'
import { spread } from '../../../bench/statistics.ts'
import { openDashboard, type Dashboard } from '../../support/operator/dashboard.ts'
import { batchOfCalls, KEY_HASH, type EndedCall } from '../../support/requests/settled-call.ts'
import { skipWithoutBrowser } from '../../support/wire/browser.ts'
import type { Program, Proof } from '../proof.ts'
import { connected } from '../../support/wire/connected.ts'
import { REQUESTS_GATHERED_MAX } from '../../../src/server/observe/requests/gathered-calls.ts'

const FULL = { calls: 100_000, repeats: 9 }
const SHORT = { calls: 2_500, repeats: 1 }
const SEEN_MS_MAX = 200
/** Rows that the page draws at most, of however many. */
const DRAWN_MAX = 100
/** Milliseconds between two calls, so that all are of the last hour. */
const APART_MS = 30
/** Calls of a provider that is searched for among all others; the last one is the oldest call. */
const RARE = 4

export const program: Program = {
  text: 'The page Requests of 100,000 calls shows what is scrolled or searched to within 200 ms at the median',
  async run(proof) {
    if (skipWithoutBrowser !== false) {
      proof.skipped = skipWithoutBrowser
      return
    }
    const size = proof.isShort ? SHORT : FULL
    const dashboard = await openDashboard(proof)
    await fill(proof, dashboard, size.calls)
    await dashboard.signIn()
    await dashboard.visit('Requests')
    const { page, seen } = dashboard
    await page.getByLabel('Key').fill(KEY_HASH)
    await loadAll(proof, page, size.calls)
    await scroll(proof, page, size)
    for (const search of SEARCHES) await searched(proof, page, search, size.repeats)
    proof.check(
      'nobody else is asked, and nothing fails',
      seen.abroad.length + seen.errors.length === 0,
      seen.errors.join(),
    )
  },
}

async function fill(proof: Proof, { node }: Dashboard, calls: number): Promise<void> {
  const url = node.settings['DATABASE_URL'] ?? ''
  const store = await connected(openStore({ url, poolMax: 1, applicationName: 'sluice-proof' }))
  proof.after(() => store.close())
  const [own] = await store.sql<{ id: string }[]>`SELECT id FROM organizations ORDER BY id LIMIT 1`
  const [organizationId, nowMs] = [own?.id ?? null, Date.now()]
  for (let from = 0; from < calls; from += REQUESTS_GATHERED_MAX) {
    const length = Math.min(REQUESTS_GATHERED_MAX, calls - from)
    const batch = Array.from({ length }, (_, n) =>
      callAt(from + n, { isRare: (from + n + 1) % (calls / RARE) === 0, organizationId, nowMs }),
    )
    await insertRequests(store, batchOfCalls(...batch))
  }
}

interface Made {
  readonly isRare: boolean
  readonly organizationId: string | null
  readonly nowMs: number
}

/** One in ten fails, half of these at their provider. */
function callAt(n: number, { isRare, organizationId, nowMs }: Made): EndedCall {
  const notes = {
    ...{ authMs: 0.1, limitsMs: 0.1, validateMs: 0.3, holdMs: 0.4, upstreamMs: 20, attempts: 1 },
    ...{ model: `maker/model-${n % 20}`, provider: isRare ? 'rare' : `provider-${n % 7}` },
    ...{ promptTokens: 100 + (n % 900), costUsd: 0.001 },
  }
  const call = {
    organizationId,
    keyHash: KEY_HASH,
    requestId: `call-${n}`,
    endedMs: nowMs - n * APART_MS,
    notes,
  }
  if (n % 10 !== 9) return call
  return n % 20 === 9
    ? { ...call, status: 429, failure: 'rate_limited' }
    : { ...call, status: 502, failure: 'upstream_failed' }
}

async function loadAll(proof: Proof, page: Page, calls: number): Promise<void> {
  const beganAt = performance.now()
  const rows = await page.evaluate<number>(
    `(async () => {
      for (;;) {
        const log = document.querySelector('.log')
        const rows = Number(log?.querySelector('table').getAttribute('aria-rowcount') ?? 1) - 1
        if (rows >= ${calls}) return rows
        log?.scrollTo(0, 1e9)
        await new Promise(requestAnimationFrame)
      }
    })()`,
  )
  const drawn = await page.locator('.log tbody tr').count()
  const tookS = (performance.now() - beganAt) / 1_000
  proof.check(
    'all calls are in the list, and few are drawn',
    drawn < DRAWN_MAX,
    `${rows} calls after ${tookS.toFixed(1)} s, ${drawn} rows drawn`,
  )
}

/** From the scroll until the rows of that place are drawn, and a frame more, in which they are painted. */
async function scroll(proof: Proof, page: Page, { calls, repeats }: typeof FULL): Promise<void> {
  const took: number[] = []
  for (let round = 0; round < 4 * repeats; round++) {
    const nth = proof.random(calls)
    took.push(
      await page.evaluate<number>(
        `(async () => {
          const log = document.querySelector('.log')
          const beganAt = performance.now()
          log.scrollTop = (log.scrollHeight / ${calls}) * ${nth}
          while (log.querySelector('[aria-rowindex="${nth + 2}"]') === null) await new Promise(requestAnimationFrame)
          await new Promise(requestAnimationFrame)
          return performance.now() - beganAt
        })()`,
      ),
    )
  }
  judge(proof, 'scrolled to a random place', took)
}

interface Search {
  /** Label of the field, and what is put there. */
  readonly field: string
  readonly value: string
  /** In the address of the request. */
  readonly query: string
  /** What the cells below this title have in each row that is found. */
  readonly column: string
  readonly found: RegExp
}

const SEARCHES: readonly Search[] = [
  { field: 'Result', value: 'failed', query: 'failed=true', column: 'Error', found: /./ },
  {
    field: 'Error',
    value: 'upstream_failed',
    query: 'error_type=upstream_failed',
    column: 'Error',
    found: /^upstream/,
  },
  { field: 'Status', value: '429', query: 'status=429', column: 'Status', found: /^429$/ },
  {
    field: 'Model',
    value: 'maker/model-3',
    query: 'model_prefix=maker',
    column: 'Model',
    found: /^maker\/model-3$/,
  },
  { field: 'Provider', value: 'rare', query: 'provider=rare', column: 'Provider', found: /^rare$/ },
]

/** From the request until all rows of the list are such as are searched for, and a frame more. */
async function searched(proof: Proof, page: Page, search: Search, repeats: number): Promise<void> {
  const took: number[] = []
  const put = async (value: string): Promise<void> => {
    const field = page.getByLabel(search.field, { exact: true })
    if (search.field === 'Result') await field.selectOption(value)
    else await field.fill(value)
    // Fields that take no part of a name search when they are entered.
    if (search.field !== 'Result') await field.press('Enter')
  }
  for (let round = 0; round < repeats; round++) {
    await page.evaluate('performance.clearResourceTimings()')
    await put(search.value)
    took.push(await page.evaluate<number>(untilFound(search)))
    await put('')
    await page.evaluate(
      untilFound({ ...search, query: '', found: new RegExp(`^(?!${search.found.source})|^$`) }, 'some'),
    )
  }
  judge(proof, `${search.field}: ${search.value}`, took)
}

function untilFound({ query, column, found }: Search, how: 'every' | 'some' = 'every'): string {
  return `(async () => {
    const isThere = () => {
      const titles = Array.from(document.querySelectorAll('.log thead th'), ({ textContent }) => textContent)
      const at = titles.indexOf('${column}')
      const rows = Array.from(document.querySelectorAll('.log tbody tr[aria-rowindex]'))
      return rows.length > 0 && rows.${how}(({ children }) => ${String(found)}.test(children[at].textContent))
    }
    while (!isThere()) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('${query}'))
    return performance.now() - Math.min(...asked.map(({ startTime }) => startTime))
  })()`
}

function judge(proof: Proof, what: string, took: readonly number[]): void {
  const { median, min, max } = spread(took)
  const found = `${median.toFixed(0)} ms (${min.toFixed(0)} to ${max.toFixed(0)}), median of ${took.length}`
  proof.checkTimed(`${what}: seen within ${SEEN_MS_MAX} ms`, median <= SEEN_MS_MAX, found)
  proof.say(`${what}: ${found}`)
}
