/** Each page of the dashboard with data, in each of its looks: what assistive tools need is there. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import {
  cutFilters,
  findingsInLooks,
  openDashboard,
  overflowOf,
  tablesBeyond,
  PRICED_MODEL,
  type Dashboard,
} from '../../support/operator/dashboard.ts'
import { spread } from '../../../bench/statistics.ts'
import { present } from '../../support/must.ts'
import { until } from '../../support/nodes/node.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ALL_IMPACTS, ALL_LOOKS, LOOKS, showAs, skipWithoutBrowser } from '../../support/wire/browser.ts'
import type { Program, Proof } from '../proof.ts'

/** US dollars after which a key is refused. */
const LIMIT_USD = 0.05
const CALLS = 40
/** Milliseconds from a reload until the page has its first figures, at the median. */
const READY_MS_MAX = 500
const RELOADS = { full: 15, short: 1 }

export const program: Program = {
  text: 'Each page of the dashboard at 1,280, 1,024 and 380 pixels, light and dark: axe-core finds nothing, nothing is beyond the edge',
  async run(proof) {
    if (skipWithoutBrowser !== false) {
      proof.skipped = skipWithoutBrowser
      return
    }
    const dashboard = await openDashboard(proof)
    const subjects = await fill(dashboard)
    await dashboard.signIn()
    const { page, seen } = dashboard
    await reload(proof, page)
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
    const titles = await Promise.all(links.map((link) => link.innerText()))
    // A person looks at the pictures of a long run.
    const screens = proof.isShort
      ? temporaryFolder(proof, 'looks')
      : mkdtempSync(join(tmpdir(), 'sluice-looks-'))
    const chosen = proof.isShort ? titles.slice(proof.random(titles.length)).slice(0, 1) : titles
    for (const title of chosen) {
      // A link to the page that is shown opens nothing.
      if ((await page.locator('h1').innerText()) !== title.trim()) await dashboard.visit(title.trim())
      await look(proof, page, { title: title.trim(), screens })
    }
    for (const address of proof.isShort ? [] : subjects) {
      await page.evaluate(`location.hash = '#/${address}'`)
      await page.locator('h1:focus').waitFor()
      await look(proof, page, { title: address.split('?')[0] ?? address, screens })
    }
    proof.check('nobody else is asked', seen.abroad.length === 0, seen.abroad.join())
    proof.check('nothing fails in the console', seen.errors.length === 0, seen.errors.join())
    proof.say(`screens: ${screens}`)
  },
}

/** From a reload until Now has figures of the node, and a frame more, in which they are painted. */
async function reload(proof: Proof, page: Page): Promise<void> {
  const took: number[] = []
  for (let round = 0; round < (proof.isShort ? RELOADS.short : RELOADS.full); round++) {
    await page.reload({ waitUntil: 'commit' })
    took.push(
      await page.evaluate<number>(
        `(async () => {
          while (document.querySelector('main .tile') === null) await new Promise(requestAnimationFrame)
          await new Promise(requestAnimationFrame)
          return performance.now()
        })()`,
      ),
    )
  }
  const { median, min, max } = spread(took)
  const found = `${median.toFixed(0)} ms (${min.toFixed(0)} to ${max.toFixed(0)}), median of ${took.length}`
  proof.checkTimed(`Now is ready within ${READY_MS_MAX} ms`, median <= READY_MS_MAX, found)
  proof.say(`Now is ready: ${found}`)
}

interface Shown {
  readonly title: string
  /** Folder of the screenshots. */
  readonly screens: string
}

async function look(proof: Proof, page: Page, { title, screens }: Shown): Promise<void> {
  const looks = proof.isShort ? LOOKS : ALL_LOOKS
  const findings = await findingsInLooks(page, looks, ALL_IMPACTS)
  proof.check(`${title}: axe-core finds nothing`, findings.length === 0, findings.join(' | '))
  const beyond: string[] = []
  for (const one of looks) {
    await showAs(page, one)
    if ((await overflowOf(page)) > 0) beyond.push(`${one.name}: the page`)
    beyond.push(...(await tablesBeyond(page)).map((caption) => `${one.name}: ${caption}`))
    beyond.push(...(await cutFilters(page)).map((name) => `${one.name}: ${name} is cut`))
    await page.screenshot({ path: join(screens, `${title}-${one.name}.png`), fullPage: true })
    for (const wrong of await (PLACES[title]?.(page, one.width) ?? [])) beyond.push(`${one.name}: ${wrong}`)
  }
  await showAs(page, LOOKS[0])
  proof.check(`${title}: nothing is beyond the edge`, beyond.length === 0, beyond.join(', '))
}

/** Pixels from the top within which the tiles of Now stand on a desk. */
const TILES_PX = 400
const DESK_PX = 1_024

/** What has its place on some pages; the names of what is somewhere else. */
const PLACES: Readonly<Record<string, (page: Page, width: number) => Promise<readonly string[]>>> = {
  async Now(page, width) {
    if (width < DESK_PX) return []
    const last = await page.locator('main .tile').last().boundingBox()
    return last !== null && last.y + last.height <= TILES_PX ? [] : ['the tiles are too low']
  },
  async Requests(page, width) {
    const wrong: string[] = []
    const place = width < DESK_PX ? '.log tbody tr[aria-rowindex] .c-' : '.log thead .c-'
    for (const kind of ['duration', 'tokens', 'cost']) {
      const box = await page
        .locator(place + kind)
        .first()
        .boundingBox()
      if (box === null || box.width === 0 || box.x + box.width > width) wrong.push(`${kind} is not in sight`)
    }
    if ((await page.getByLabel('Provider').isVisible()) !== width >= DESK_PX) wrong.push('the filters')
    return wrong
  },
}

/** Calls that succeed and that fail, and what workspaces have. @returns addresses of pages of one subject */
async function fill({ call, managementKey, inferenceKey }: Dashboard): Promise<readonly string[]> {
  const make = async (path: string, key: string, body: object, method = 'POST'): Promise<Made> => {
    const answer = await call(path, key, { method, body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
    return JSON.parse(answer.body) as Made
  }
  const made = await make('keys', managementKey, { name: 'shop, search', limit: LIMIT_USD })
  const { hash = '', workspace_id: workspaceId = '' } = made.data ?? {}
  const body = { model: PRICED_MODEL, input: 'seven words are what this text has' }
  for (let nth = 0; nth < CALLS; nth++)
    await call('embeddings', inferenceKey, { body: { ...body, input: `${nth}` } })
  await until(
    'the limit refuses a call',
    async () => (await call('embeddings', present(made.key), { body })).status === 403,
  )
  await call('embeddings', inferenceKey, { body: { ...body, model: 'test/priced-2' } })
  await make(`workspaces/${workspaceId}/budgets/monthly`, managementKey, { limit_usd: 25 }, 'PUT')
  const secret = { hosts: ['api.github.com'], value: 'of the vault' }
  await make('vault/secrets/github_token', inferenceKey, secret, 'PUT')
  await make('byok', managementKey, { provider: 'openai', key: 'sk-0123456789' })
  await make('videos', inferenceKey, { model: 'sluice/clip-1', prompt: 'A boat', duration: 2 })
  return [
    `key?id=${hash}`,
    `model?id=${encodeURIComponent(PRICED_MODEL)}`,
    'provider?id=local',
    `workspace?id=${workspaceId}`,
  ]
}

interface Made {
  readonly key?: string
  readonly data?: { readonly hash?: string; readonly workspace_id?: string }
}
