import { readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { segmentFiles } from '../../../src/server/journal/segments.ts'
import {
  journalIn,
  someOwner,
  someProgress,
  someSettlement,
  someTake,
  wholeJournal,
} from '../../support/money/journal.ts'
import { keptLog } from '../../support/log.ts'
import { openFolder } from '../../support/files/storage.ts'
import { LOCAL_DISK, type JournalDisk } from '../../../src/server/journal/segment-writer.ts'
import { JOURNAL_ENTRIES_MAX, JOURNAL_SEGMENT_BYTES } from '../../../src/server/journal/journal.ts'

function namesOf(folder: string, id: string): readonly number[] {
  return segmentFiles(folder, id).map(({ number }) => number)
}

/** A disk with room for so many bytes more. */
function fullDisk(room: { bytes: number; mayTruncate?: boolean }): JournalDisk {
  return {
    ...LOCAL_DISK,
    write(file, bytes, length, position) {
      const fits = Math.min(length, room.bytes)
      if (fits === 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      room.bytes -= fits
      return LOCAL_DISK.write(file, bytes, fits, position)
    },
    truncate(file, length) {
      if (room.mayTruncate === false) throw Object.assign(new Error('no disk'), { code: 'EIO' })
      LOCAL_DISK.truncate(file, length)
    },
  }
}

t.test('unwritten entries are neither on disk nor flushed', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder)
  journal.settle(journal.take(someTake('a')), someSettlement('a'))
  t.equal(journal.next(10), null)
  t.same((await wholeJournal(folder, journal.id)).entries, [])
  t.ok(journal.write())
  t.equal(journal.next(10)?.entries.length, 1)
  t.equal((await wholeJournal(folder, journal.id)).entries.length, 1)
})

t.test('files are readable only for their owner', async (t) => {
  const folder = join(await openFolder(t), 'journals')
  const journal = journalIn(folder)
  const [file] = segmentFiles(folder, journal.id)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.equal(statSync(file?.path ?? '').mode & 0o777, 0o600)
})

t.test('a flush stays the same until it is applied, and the next one begins at its end', async (t) => {
  const journal = journalIn(await openFolder(t))
  for (const name of ['a', 'b', 'c']) journal.settle(journal.take(someTake(name)), someSettlement(name))
  journal.write()
  const first = journal.next(2)
  journal.settle(journal.take(someTake('d')), someSettlement('d'))
  journal.write()
  t.equal(journal.next(100), first)
  t.same([first?.from, first?.entries.length], [0, 2])
  journal.applied(first?.to ?? 0)
  const second = journal.next(100)
  t.equal(second?.from, first?.to)
  t.same(
    second?.entries.map((entry) => 'requestId' in entry && entry.requestId),
    ['c', 'd'],
  )
  journal.applied(second?.to ?? 0)
  t.equal(journal.next(100), null)
})

t.test('a flush shrinks when fewer entries are wanted, and either size may be the applied one', async (t) => {
  for (const isLarger of [true, false]) {
    const journal = journalIn(await openFolder(t))
    for (const name of ['a', 'b', 'c']) journal.settle(journal.take(someTake(name)), someSettlement(name))
    journal.write()
    const larger = journal.next(3)
    const smaller = journal.next(1)
    t.same([smaller?.from, smaller?.entries], [larger?.from, larger?.entries.slice(0, 1)])
    t.equal(journal.next(3), smaller)
    const applied = isLarger ? larger : smaller
    journal.applied(applied?.to ?? 0)
    t.same(journal.next(3)?.entries.length, isLarger ? undefined : 2)
  }
})

t.test('a full disk voids the takes of that append; settlements wait for free space', async (t) => {
  const folder = await openFolder(t)
  const room = { bytes: 1_000_000 }
  const log = keptLog()
  const journal = journalIn(folder, { disk: fullDisk(room), log })
  const held = journal.take(someTake('held'))
  t.ok(journal.write())
  room.bytes = 50
  const refused = journal.take(someTake('refused'))
  journal.settle(held, someSettlement('held'))
  t.notOk(journal.write())
  t.ok(journal.isBroken)
  journal.release(refused)
  t.same((await wholeJournal(folder, journal.id)).open, [someTake('held')])
  t.equal(journal.next(10), null)
  room.bytes = 1_000_000
  t.ok(journal.write())
  t.notOk(journal.isBroken)
  const read = await wholeJournal(folder, journal.id)
  t.same([read.open, read.entries, read.isWhole], [[], [someSettlement('held')], true])
  t.same(journal.next(10)?.entries, [someSettlement('held')])
  t.same(
    log.events.map(({ event }) => event),
    ['journal_failed', 'journal_works_again'],
  )
})

t.test('a broken journal repairs itself even when it has nothing to write', async (t) => {
  const room = { bytes: 10 }
  const journal = journalIn(await openFolder(t), { disk: fullDisk(room) })
  t.ok(journal.isBroken)
  t.notOk(journal.write())
  room.bytes = 100_000
  t.ok(journal.write())
  t.notOk(journal.isBroken)
})

t.test('a torn tail that cannot be removed keeps the journal broken until it can', async (t) => {
  const folder = await openFolder(t)
  const room = { bytes: 1_000_000, mayTruncate: true }
  const journal = journalIn(folder, { disk: fullDisk(room) })
  journal.take(someTake('a'))
  journal.write()
  Object.assign(room, { bytes: 30, mayTruncate: false })
  journal.take(someTake('b'))
  t.notOk(journal.write())
  room.bytes = 1_000_000
  t.notOk(journal.write())
  room.mayTruncate = true
  t.ok(journal.write())
  const read = await wholeJournal(folder, journal.id)
  t.same([read.open, read.isWhole], [[someTake('a')], true])
})

t.test('a new segment begins with the open takes, and an applied segment is deleted', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder, { segmentBytes: 2_000 })
  journal.take(someTake('open'))
  for (let count = 0; count < 20; count++) {
    journal.settle(journal.take(someTake(`s${count}`)), someSettlement(`s${count}`))
    journal.write()
  }
  t.ok(namesOf(folder, journal.id).length > 2)
  const before = await wholeJournal(folder, journal.id)
  t.same([before.entries.length, before.open, before.isWhole], [20, [someTake('open')], true])
  const to = journal.next(100)?.to ?? 0
  journal.applied(to)
  t.equal(namesOf(folder, journal.id).length, 1)
  const after = await wholeJournal(folder, journal.id, to)
  t.same([after.entries.length, after.open, after.isWhole], [0, [someTake('open')], true])
})

t.test('segments of free calls are applied and deleted too', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder, { segmentBytes: 2_000 })
  for (let count = 0; count < 20; count++) {
    journal.release(journal.take(someTake(`r${count}`)))
    journal.write()
  }
  const flush = journal.next(100)
  t.same(flush?.entries, [])
  journal.applied(flush?.to ?? 0)
  t.equal(namesOf(folder, journal.id).length, 1)
})

t.test('detects a missing segment, whether the first, a middle or the last one', async (t) => {
  const folder = await openFolder(t)
  for (const missing of [0, 1, 2]) {
    const journal = journalIn(folder, { segmentBytes: 1_200 })
    while (namesOf(folder, journal.id).length < 3) {
      journal.settle(journal.take(someTake('a')), someSettlement('a'))
      journal.write()
    }
    rmSync(segmentFiles(folder, journal.id)[missing]?.path ?? '')
    t.notOk((await wholeJournal(folder, journal.id)).isWhole, `segment ${missing}`)
  }
})

t.test('without room for a new segment the old one stays in use', async (t) => {
  const folder = await openFolder(t)
  let isTight = false
  const disk: JournalDisk = {
    ...LOCAL_DISK,
    create(path) {
      if (isTight) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      return LOCAL_DISK.create(path)
    },
  }
  const journal = journalIn(folder, { segmentBytes: 1_000, disk })
  isTight = true
  for (let count = 0; count < 10; count++) {
    journal.settle(journal.take(someTake(`s${count}`)), someSettlement(`s${count}`))
    t.ok(journal.write())
  }
  isTight = false
  for (let count = 10; count < 20; count++) {
    journal.settle(journal.take(someTake(`s${count}`)), someSettlement(`s${count}`))
    t.ok(journal.write())
  }
  const read = await wholeJournal(folder, journal.id)
  t.same([read.entries.length, read.isWhole, namesOf(folder, journal.id).length > 1], [20, true, true])
})

t.test('entries beyond the number kept in memory are read again, in order and once', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder, { segmentBytes: 10_000, entriesMax: 7 })
  const seen: string[] = []
  const drain = (max: number): boolean => {
    const flush = journal.next(max)
    if (flush === null) return false
    for (const entry of flush.entries) if ('requestId' in entry) seen.push(entry.requestId)
    journal.applied(flush.to)
    return true
  }
  const names = Array.from({ length: 400 }, (_, at) => `s${at}`)
  for (const [at, name] of names.entries()) {
    journal.settle(journal.take(someTake(name)), someSettlement(name))
    journal.write()
    if (at % 100 === 50) for (let turn = 0; turn < 5; turn++) drain(3)
  }
  while (drain(5)) continue
  t.same(seen, names)
  t.equal(namesOf(folder, journal.id).length, 1)
})

t.test(
  'entries that are read again are returned after many free calls, before the journal reports its end',
  async (t) => {
    const journal = journalIn(await openFolder(t), { entriesMax: 1 })
    for (const name of ['a', 'b']) journal.settle(journal.take(someTake(name)), someSettlement(name))
    journal.write()
    // More than two of the pieces that are read at once.
    for (let call = 0; call < 3_000; call++) journal.release(journal.take(someTake(`free${call}`)))
    journal.settle(journal.take(someTake('c')), someSettlement('c'))
    journal.write()
    const seen: string[] = []
    for (let flush = journal.next(10); flush !== null; flush = journal.next(10)) {
      for (const entry of flush.entries) if ('requestId' in entry) seen.push(entry.requestId)
      journal.applied(flush.to)
    }
    t.same(seen, ['a', 'b', 'c'])
  },
)

t.test('a journal that cannot read its own entries is broken until it can', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder, { entriesMax: 1 })
  for (const name of ['a', 'b', 'c']) journal.settle(journal.take(someTake(name)), someSettlement(name))
  journal.write()
  const first = journal.next(10)
  journal.applied(first?.to ?? 0)
  const path = segmentFiles(folder, journal.id)[0]?.path ?? ''
  renameSync(path, `${path}.away`)
  t.equal(journal.next(10), null)
  t.ok(journal.write() && journal.isBroken)
  renameSync(`${path}.away`, path)
  t.same(
    journal.next(10)?.entries.map(({ kind }) => kind),
    ['settle', 'settle'],
  )
  t.notOk(journal.isBroken)
})

t.test('records of many calls in one append are all written', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder)
  const count = 3_000
  for (let at = 0; at < count; at++)
    journal.settle(journal.take(someTake(`s${at}`)), someSettlement(`s${at}`))
  t.ok(journal.write())
  t.equal((await wholeJournal(folder, journal.id)).entries.length, count)
  t.ok(readFileSync(segmentFiles(folder, journal.id)[0]?.path ?? '').length < JOURNAL_SEGMENT_BYTES)
  t.ok(count < JOURNAL_ENTRIES_MAX)
})

t.test('calls of a few keys keep their own owner, model, operation and payers, in any order', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder)
  const owners = Array.from({ length: 3 }, () => someOwner())
  const moved = { ...someOwner(), keyHash: owners[0]?.keyHash ?? '' }
  const reported = Array.from({ length: 600 }, (_, at) => {
    const more = {
      ...(at % 5 === 0 ? moved : owners[at % 3]),
      model: `model/${at % 7}`,
      operation: at % 11 < 2 ? 'chat.create' : 'embeddings.create',
      paid: { organization: at % 2 === 0, workspace: at % 13 < 4, key: at % 17 < 6 },
    }
    const [take, entry] = [someTake(`r${at}`, at, more), someSettlement(`r${at}`, at, more)]
    const id = journal.take(take)
    if (at % 4 > 0) journal.settle(id, entry)
    return { take, entry, isOpen: at % 4 === 0 }
  })
  t.ok(journal.write())
  const { entries, open } = await wholeJournal(folder, journal.id)
  t.same(
    entries,
    reported.flatMap(({ entry, isOpen }) => (isOpen ? [] : [entry])),
  )
  t.same(
    open,
    reported.flatMap(({ take, isOpen }) => (isOpen ? [take] : [])),
  )
})

t.test('a new segment begins with the latest progress of the open takes', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder, { segmentBytes: 2_000 })
  const open = journal.take(someTake('open'))
  journal.write()
  for (let count = 0; count < 20; count++) {
    if (count < 8) journal.progress(open, someProgress(count))
    journal.settle(journal.take(someTake(`s${count}`)), someSettlement(`s${count}`))
    journal.write()
  }
  const progress = someProgress(7)
  const to = journal.next(100)?.to ?? 0
  t.same((await wholeJournal(folder, journal.id)).open, [someTake('open', 1_000, { progress })])
  journal.applied(to)
  t.equal(namesOf(folder, journal.id).length, 1)
  const after = await wholeJournal(folder, journal.id, to)
  t.same([after.open, after.isWhole], [[someTake('open', 1_000, { progress })], true])
})

t.test(
  'a full disk drops progress until it is reported again; later settlements stay in order',
  async (t) => {
    const folder = await openFolder(t)
    const room = { bytes: 1_000_000 }
    const journal = journalIn(folder, { disk: fullDisk(room) })
    const [open, ended] = [journal.take(someTake('open')), journal.take(someTake('ended'))]
    journal.write()
    room.bytes = 50
    for (let count = 0; count < 1_000; count++) {
      journal.progress(open, someProgress(count))
      if (count === 500) journal.settle(ended, someSettlement('ended'))
      if (journal.write()) t.fail('there is no room')
    }
    room.bytes = 100_000
    t.ok(journal.write())
    const { entries, open: left, isWhole, to } = await wholeJournal(folder, journal.id)
    t.same([entries.length, left, isWhole], [1, [someTake('open')], true])
    t.equal(journal.next(10)?.to, to)
  },
)

t.test('a settlement of a text model keeps its tokens, also when it is read again', async (t) => {
  const folder = await openFolder(t)
  const room = { bytes: 1_000_000 }
  const journal = journalIn(folder, { disk: fullDisk(room), entriesMax: 1 })
  const entries = [1, 2, 3].map((nth) =>
    someSettlement(`call-${nth}`, 5, nth === 2 ? {} : { text: { outputTokens: nth, cachedTokens: 2 ** 40 } }),
  )
  const takes = entries.map(({ requestId }) => journal.take(someTake(requestId)))
  journal.write()
  // After takes that are dropped.
  room.bytes = 10
  journal.take(someTake('refused'))
  entries.forEach((entry, at) => journal.settle(takes[at] ?? 0, entry))
  t.notOk(journal.write())
  room.bytes = 1_000_000
  t.ok(journal.write())
  t.same((await wholeJournal(folder, journal.id)).entries, entries)
  const flushed: unknown[] = []
  for (let flush = journal.next(1); flush !== null; flush = journal.next(1)) {
    flushed.push(...flush.entries)
    journal.applied(flush.to)
  }
  t.same(flushed, entries)
})
