import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bootId } from '../../../src/server/journal/boot-id.ts'
import { openRecovery, recoverJournal, type RecoveryOptions } from '../../../src/server/journal/recovery.ts'
import { journalsFolder, segmentFiles } from '../../../src/server/journal/segments.ts'
import { openNodeJournals } from '../../../src/server/main/journals.ts'
import type { Lender } from '../../../src/server/ports/money/lending.ts'
import { journalIn } from '../../support/money/journal.ts'
import { booksOf, BOUND, COST, deadFront, LENT } from '../../support/money/dead-front.ts'
import { waitLong } from '../../support/stores/postgres.ts'
import { openFolder } from '../../support/files/storage.ts'

waitLong()

t.test('spends the settlements of a dead front, forfeits its open takes, and returns the rest', async (t) => {
  const front = await deadFront(t)
  await recoverJournal(front.id, front.options)
  t.same(await booksOf(front), {
    ledger: { usage: 2 * COST, forfeit: BOUND },
    spent: 2 * COST + BOUND,
    lent: 0,
    wrong: [],
  })
  t.same(readdirSync(front.folder), [])
  const [logged] = front.log.events
  t.match(logged, {
    event: 'journal_recovered',
    fields: { isWhole: true, isLate: false, entries: 2, forfeits: 1 },
  })
})

t.test('after a machine crash all unexplained money is forfeited', async (t) => {
  const front = await deadFront(t)
  await recoverJournal(front.id, { ...front.options, bootId: 'another' })
  const { spent, lent, wrong } = await booksOf(front)
  t.same([spent, lent, wrong], [LENT, 0, []])
})

t.test('a journal with a damaged part forfeits only its lent money', async (t) => {
  const front = await deadFront(t)
  const [file] = segmentFiles(front.folder, front.id)
  const bytes = Buffer.alloc(9, 1)
  writeFileSync(file?.path ?? '', bytes, { flag: 'a' })
  await recoverJournal(front.id, front.options)
  const { ledger, spent, lent, wrong } = await booksOf(front)
  t.same([ledger['usage'], spent, lent, wrong], [2 * COST, LENT, 0, []])
})

t.test('recovering twice, concurrently or in parts changes nothing more', async (t) => {
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
  'a journal that was closed while its file was missing turns its forfeit into usage when the file appears',
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
  'recovery retries while the store is unavailable, and waits for the end of a process that still runs',
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

t.test('a journal that cannot be recovered does not block others', async (t) => {
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

t.test('an unregistered journal is deleted when empty, and otherwise kept for the operator', async (t) => {
  const front = await deadFront(t)
  const [empty, full] = [journalIn(front.folder), journalIn(front.folder)]
  full.giveBack({ kind: 'give_back', day: '2026-01-01', accountId: 'o1', amountNano: 1 })
  full.write()
  await recoverJournal(empty.id, front.options)
  await recoverJournal(full.id, front.options)
  t.same([segmentFiles(front.folder, empty.id).length, segmentFiles(front.folder, full.id).length], [0, 1])
  t.same(front.log.events.map(({ event }) => event).includes('journal_unknown'), true)
})

t.test('a starting node recovers the journals in its data directory, drafts included', async (t) => {
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
