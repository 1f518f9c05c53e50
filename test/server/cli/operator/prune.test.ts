import t, { type Test } from 'tap'
import { openRetentionLeases } from '../../../../src/server/store/base/retention-lease.ts'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import { openBooks } from '../../../support/money/ledger.ts'
import { must } from '../../../support/must.ts'
import { plantAnswers, plantDeliveries, plantJobs } from '../../../support/operator/retention.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const KEPT = { SLUICE_LEDGER_KEPT_MONTHS: '1', SLUICE_JOBS_KEPT_DAYS: '2' }

async function stand(t: Test) {
  const books = await openBooks(t)
  const { store, organizationId, workspaceId } = books
  await books.book({ cost: 3, day: '2026-01-05' })
  await books.turnTo('2026-04-01')
  const plant = { organizationId, workspaceId, count: 10, fromDays: 9, toDays: 3 }
  await plantAnswers(store.sql, { ...plant, name: 'a' })
  await plantJobs(store.sql, { ...plant, name: 'j' })
  await plantDeliveries(store.sql, { ...plant, state: 'dead', name: 'd' })
  const settings = { DATABASE_URL: store.options.url, SLUICE_DATA: await openFolder(t), ...KEPT }
  return { ...books, run: (...args: readonly string[]) => runVerb(settings, ['prune', ...args]) }
}

interface Answer {
  readonly data: readonly {
    readonly kind: string
    readonly kept: string | null
    readonly rows: number
    readonly oldest_at: string | null
  }[]
}

function rowsOf(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries((JSON.parse(text) as Answer).data.map(({ kind, rows }) => [kind, rows]))
}

const DUE = {
  ledger: 1,
  audit: 0,
  idempotency: 10,
  webhooks: 0,
  dead_letters: 0,
  jobs: 10,
  generations: 0,
  requests: 0,
}
const NONE = {
  ledger: 0,
  audit: 0,
  idempotency: 0,
  webhooks: 0,
  dead_letters: 0,
  jobs: 0,
  generations: 0,
  requests: 0,
}

t.test('prune counts the due rows, then removes them and shows how long each kind is kept', async (t) => {
  const { run, store } = await stand(t)
  const dry = await run('--dry-run', '--json')
  t.same([dry.code, rowsOf(dry.stdout)], [0, DUE])
  t.same(rowsOf((await run('--dry-run', '--json')).stdout), DUE, 'and it has removed nothing')
  const removed = await run('--json')
  t.same([removed.code, rowsOf(removed.stdout)], [0, DUE])
  t.match(JSON.parse(removed.stdout), {
    dry_run: false,
    data: [
      { kind: 'ledger', kept: '1 month' },
      { kind: 'audit', kept: null },
      { kind: 'idempotency', kept: '24 hours', oldest_at: null },
      { kind: 'webhooks', kept: '7 days' },
      { kind: 'dead_letters', kept: '30 days', oldest_at: /^20/ },
      { kind: 'jobs', kept: '2 days' },
      { kind: 'generations', kept: '30 days' },
      { kind: 'requests', kept: '7 days' },
    ],
  })
  const again = await run()
  t.match(again, { code: 0, stdout: /^KIND +KEPT +REMOVED +OLDEST\nledger +1 month +0 / })
  t.same(rowsOf((await run('--json')).stdout), NONE)
  t.same(must(await checkLedger(store)).differences, [])
})

t.test('prune refuses to run while another process is pruning', async (t) => {
  const { run, store } = await stand(t)
  await openRetentionLeases(store).begin()
  t.match(await run(), { code: 1, stderr: /another process is already pruning/ })
})
