import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bootId } from '../../../src/server/journal/boot-id.ts'
import { openRecovery, recoverJournal, type RecoveryOptions } from '../../../src/server/journal/recovery.ts'
import { journalsFolder, segmentFiles } from '../../../src/server/journal/segments.ts'
import { openNodeJournals } from '../../../src/server/main/journals.ts'
import type { Lender } from '../../../src/server/ports/money/lending.ts'
import type { AccountKind } from '../../../src/server/ports/money/money.ts'
import { journalState } from '../../../src/server/store/nodes/journals.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { journalIn, TEST_BOOT } from '../../support/money/journal.ts'
import { keptLog, SILENT } from '../../support/log.ts'
import {
  imbalances,
  makeOwners,
  openTake,
  setLimit,
  settlement,
  type Owners,
} from '../../support/money/money.ts'
import { openTestStore, waitLong } from '../../support/stores/postgres.ts'
import { openFolder } from '../../support/files/storage.ts'

waitLong()

const BOUND = 1_000
const COST = 400
const LENT = 10_000

interface DeadFront {
  readonly store: Store
  readonly folder: string
  readonly id: string
  readonly owners: Owners
  readonly options: Omit<RecoveryOptions, 'wait'>
  readonly log: ReturnType<typeof keptLog>
}

/** A front that was lent money, settled two calls, left one open, and died. */
async function deadFront(
  t: Parameters<typeof openFolder>[0],
  more: Partial<Parameters<typeof journalIn>[1]> = {},
): Promise<DeadFront> {
  const store = await openTestStore(t)
  const folder = await openFolder(t)
  const owners = await makeOwners(store)
  for (const account of Object.values(owners.accounts)) await setLimit(store.sql, account, 'lifetime', LENT)
  const lender = openLender(store, SILENT)
  const journal = journalIn(folder, more)
  const { id } = journal
  const day = await lender.open({ id, node: 'a-node', bootId: TEST_BOOT })
  const kinds: readonly AccountKind[] = ['organization', 'workspace', 'key']
  const accounts = kinds.map((kind) => ({
    accountId: owners.accounts[kind],
    needNano: LENT,
    leastNano: 1,
    useNano: 0,
  }))
  await lender.lend({ journalId: id, sequence: 1, day, liveFronts: 1, accounts })
  const takes = [1, 2, 3].map(() => journal.take(openTake(owners, day, BOUND)))
  for (const take of takes.slice(1)) journal.settle(take, settlement(owners, day, COST))
  journal.write()
  journal.close()
  const log = keptLog()
  const stateOf = (of: string) => journalState(store.sql, of)
  return {
    store,
    folder,
    id,
    owners,
    log,
    options: { folder, lender, stateOf, bootId: TEST_BOOT, isRunning: () => false, log },
  }
}

/**
 * Sums of the ledger by kind, what the key's account counts and has lent, and whether all of the books
 * balance.
 */
async function booksOf({ store: { sql }, owners }: DeadFront) {
  const rows = await sql<{ kind: string; nano: string }[]>`
    SELECT kind, sum(cost_nano - released_nano)::text AS nano FROM ledger GROUP BY kind ORDER BY kind`
  const [account] = await sql<{ spent: string; lent: string }[]>`
    SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${owners.accounts.key}`
  const ledger = Object.fromEntries(rows.map(({ kind, nano }) => [kind, Number(nano)]))
  return { ledger, spent: Number(account?.spent), lent: Number(account?.lent), wrong: await imbalances(sql) }
}

t.test(
  'what a dead front settled is spent, what it left open is forfeited, the rest returns, and its files go',
  async (t) => {
    const front = await deadFront(t)
    await recoverJournal(front.id, front.options)
    t.same(await booksOf(front), {
      ledger: { usage: 2 * COST, forfeit: BOUND },
      spent: 2 * COST + BOUND,
      lent: 0,
      wrong: [],
    })
    t.same(readdirSync(front.folder), [])
    const [told] = front.log.events
    t.match(told, {
      event: 'journal_recovered',
      fields: { isWhole: true, isLate: false, entries: 2, forfeits: 1 },
    })
  },
)

t.test('after a crash of the machine all that nobody can explain is forfeited', async (t) => {
  const front = await deadFront(t)
  await recoverJournal(front.id, { ...front.options, bootId: 'another' })
  const { spent, lent, wrong } = await booksOf(front)
  t.same([spent, lent, wrong], [LENT, 0, []])
})

t.test('a journal with a damaged part forfeits what was lent, and no more', async (t) => {
  const front = await deadFront(t)
  const [file] = segmentFiles(front.folder, front.id)
  const bytes = Buffer.alloc(9, 1)
  writeFileSync(file?.path ?? '', bytes, { flag: 'a' })
  await recoverJournal(front.id, front.options)
  const { ledger, spent, lent, wrong } = await booksOf(front)
  t.same([ledger['usage'], spent, lent, wrong], [2 * COST, LENT, 0, []])
})

t.test('recovering twice, also at once, and in parts, changes nothing more', async (t) => {
  const front = await deadFront(t)
  const options = { ...front.options, batchEntries: 1 }
  const both = await Promise.allSettled([
    recoverJournal(front.id, options),
    recoverJournal(front.id, options),
  ])
  t.ok(both.some(({ status }) => status === 'fulfilled'))
  await recoverJournal(front.id, options)
  const { ledger, lent, wrong } = await booksOf(front)
  t.same([ledger, lent, wrong], [{ usage: 2 * COST, forfeit: BOUND }, 0, []])
})

t.test(
  'a journal that was closed without its file turns its forfeit into usage when the file appears',
  async (t) => {
    const front = await deadFront(t)
    await front.options.lender.close({ journalId: front.id, rest: null, open: [], isComplete: false })
    t.equal((await booksOf(front)).ledger['forfeit'], 2 * LENT)
    await recoverJournal(front.id, front.options)
    const { ledger, spent, wrong } = await booksOf(front)
    t.same([ledger, spent, wrong], [{ usage: 2 * COST, forfeit: 2 * (LENT - 2 * COST) }, LENT, []])
    t.same(readdirSync(front.folder), [])
  },
)

t.test(
  'a store that is away is tried until it is there, and the journal of a process that runs waits for its end',
  async (t) => {
    const front = await deadFront(t)
    let away = 2
    const lender: Pick<Lender, 'flush' | 'close'> = {
      flush: front.options.lender.flush,
      close: (closing) =>
        away-- > 0 ? Promise.reject(new Error('away')) : front.options.lender.close(closing),
    }
    let runs = 2
    const waits: number[] = []
    const recovery = openRecovery({
      ...front.options,
      lender,
      isRunning: () => runs-- > 0,
      wait: (ms) => Promise.resolve(void waits.push(ms)),
    })
    recovery.start()
    await recovery.close().then(() => recovery.close())
    t.ok(waits.length <= 1, 'one that is closed tries no more')
    const again = openRecovery({
      ...front.options,
      lender,
      isRunning: () => runs-- > 0,
      wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms / 100).unref()),
    })
    again.frontEnded(front.id)
    await again.settled(10_000_000)
    t.same((await booksOf(front)).lent, 0)
    t.same(front.log.events.filter(({ event }) => event === 'journal_recovered').length, 1)
  },
)

t.test('a journal that cannot be recovered holds up no other', async (t) => {
  const front = await deadFront(t)
  const stuck = journalIn(front.folder)
  const stateOf: RecoveryOptions['stateOf'] = (id) =>
    id === stuck.id ? Promise.reject(new Error('never')) : front.options.stateOf(id)
  const recovery = openRecovery({
    ...front.options,
    stateOf,
    wait: () => new Promise((resolve) => setImmediate(resolve)),
  })
  recovery.frontEnded(stuck.id)
  recovery.frontEnded(front.id)
  while (segmentFiles(front.folder, front.id).length > 0)
    await new Promise((resolve) => setImmediate(resolve))
  await recovery.close()
  t.equal((await booksOf(front)).lent, 0)
})

t.test(
  'a journal that was never made known goes when it is empty, and stays for people when it is not',
  async (t) => {
    const front = await deadFront(t)
    const [empty, full] = [journalIn(front.folder), journalIn(front.folder)]
    full.giveBack({ kind: 'give_back', day: '2026-01-01', accountId: 'o1', amountNano: 1 })
    full.write()
    await recoverJournal(empty.id, front.options)
    await recoverJournal(full.id, front.options)
    t.same([segmentFiles(front.folder, empty.id).length, segmentFiles(front.folder, full.id).length], [0, 1])
    t.same(front.log.events.map(({ event }) => event).includes('journal_unknown'), true)
  },
)

t.test('a node that starts recovers what lies in its data directory, drafts included', async (t) => {
  const dataDir = await openFolder(t)
  const front = await deadFront(t, { folder: journalsFolder(dataDir), bootId: bootId() })
  writeFileSync(
    join(journalsFolder(dataDir), `${front.id.replace(/^./, '0')}.000001.journal.new`),
    'half a hea',
  )
  const staging = join(dataDir, 'files/staging')
  mkdirSync(staging, { recursive: true })
  for (const name of [`${front.id}.half`, 'of-another.half'])
    writeFileSync(join(staging, name), 'half a file')
  const config = { dataDir, objects: { kind: 'disk' as const, folder: join(dataDir, 'files') } }
  const cleared: number[] = []
  const onCleared = () => cleared.push(readdirSync(staging).length)
  const journals = openNodeJournals({ databaseUrl: front.store.options.url, config, onCleared }, front.log)
  journals.start()
  await journals.settled(20_000)
  await journals.close()
  t.same(readdirSync(journalsFolder(dataDir)), [])
  t.same(readdirSync(staging), ['of-another.half'], 'what the dead front had staged is gone')
  t.ok(cleared.includes(1), 'and then the rest can be swept')
  t.same((await booksOf(front)).ledger, { usage: 2 * COST, forfeit: BOUND })
})
