import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { FRAME_BYTES, KIND } from '../../../src/server/journal/record-buffer.ts'
import { recordAt } from '../../../src/server/journal/records.ts'
import { readHead, segmentFiles } from '../../../src/server/journal/segments.ts'
import {
  journalIn,
  someProgress,
  someSettlement,
  someTake,
  wholeJournal,
  type WholeJournal,
} from '../../support/money/journal.ts'
import { openFolder } from '../../support/files/storage.ts'

/** One file: three calls of which one is settled, one released and one streams, and what was given back. */
async function written(t: Parameters<typeof openFolder>[0]) {
  const folder = await openFolder(t)
  const journal = journalIn(folder)
  const [a, b] = [journal.take(someTake('call-a')), journal.take(someTake('call-b'))]
  const c = journal.take(someTake('call-c', 5_000))
  // Progress is of takes that are written.
  journal.write()
  journal.progress(c, someProgress(11))
  journal.progress(c, someProgress(12))
  journal.settle(a, someSettlement('call-a', 321, { model: 'größer/模型' }))
  journal.release(b)
  journal.giveBack({
    kind: 'give_back',
    day: '2026-11-19',
    accountId: `k${'0f'.repeat(32)}`,
    amountNano: 2 ** 53 - 1,
  })
  journal.write()
  journal.close()
  const [file] = segmentFiles(folder, journal.id)
  if (file === undefined) throw new Error('there is no file')
  const bytes = readFileSync(file.path)
  const ends = recordEnds(bytes)
  return {
    folder,
    id: journal.id,
    path: file.path,
    bytes,
    ends,
    whole: await wholeJournal(folder, journal.id),
  }
}

function recordEnds(bytes: Buffer): readonly number[] {
  const ends = [readHead(bytes)?.bytes ?? 0]
  for (;;) {
    const found = recordAt(bytes, ends.at(-1) ?? 0)
    if (found.kind !== 'record') return ends
    ends.push((ends.at(-1) ?? 0) + found.bytes)
  }
}

/** Takes as they stood before their last record. */
const BEFORE = [
  someTake('call-a'),
  someTake('call-b'),
  someTake('call-c', 5_000),
  someTake('call-c', 5_000, { progress: someProgress(11) }),
]

/** Whether one journal says nothing that the other does not. */
function isPartOf(part: WholeJournal, whole: WholeJournal): boolean {
  const known = [...whole.entries, ...whole.open, ...BEFORE]
  return [...part.entries, ...part.open].every((one) => known.some((other) => isDeepStrictEqual(one, other)))
}

t.test('a journal reads back as it was written: entries, and takes without a settlement', async (t) => {
  const { whole } = await written(t)
  t.same(whole.entries, [
    someSettlement('call-a', 321, { model: 'größer/模型' }),
    { kind: 'give_back', day: '2026-11-19', accountId: `k${'0f'.repeat(32)}`, amountNano: 2 ** 53 - 1 },
  ])
  t.same(whole.open, [someTake('call-c', 5_000, { progress: someProgress(12) })])
  t.ok(whole.isWhole)
  t.equal(whole.to, whole.end)
})

t.test('a file truncated at any byte yields the records before that byte, and counts as whole', async (t) => {
  const { folder, id, path, bytes, ends, whole } = await written(t)
  const wrong: object[] = []
  for (let length = bytes.length - 1; length >= (ends[0] ?? 0); length--) {
    truncateSync(path, length)
    const cut = await wholeJournal(folder, id)
    const records = ends.filter((end) => end <= length).length - 1
    const is = [cut.isWhole, isPartOf(cut, whole), cut.entries.length, cut.open.length]
    const [entries, open] = [[0, 0, 0, 0, 0, 0, 1, 1, 2][records], [0, 1, 2, 3, 3, 3, 2, 1, 1][records]]
    if (!isDeepStrictEqual(is, [true, true, entries, open])) wrong.push({ length, is })
  }
  t.same(wrong, [])
})

t.test('a file truncated within its head is not whole, and yields nothing', async (t) => {
  const { folder, id, path, ends } = await written(t)
  const wrong: number[] = []
  for (let length = (ends[0] ?? 0) - 1; length >= 0; length--) {
    truncateSync(path, length)
    const { entries, open, isWhole } = await wholeJournal(folder, id)
    if (isWhole || entries.length + open.length > 0) wrong.push(length)
  }
  t.same(wrong, [])
})

t.test(
  'detects a flipped bit anywhere: no wrong record is accepted, and the journal is not whole',
  async (t) => {
    const { folder, id, path, bytes, whole } = await written(t)
    const wrong: number[] = []
    for (let at = 0; at < bytes.length; at++) {
      const harmed = Buffer.from(bytes)
      harmed[at] = (harmed[at] ?? 0) ^ (1 << (at % 8))
      writeFileSync(path, harmed)
      const read = await wholeJournal(folder, id)
      if (read.isWhole || !isPartOf(read, whole)) wrong.push(at)
    }
    t.same(wrong, [])
  },
)

t.test('a damaged body loses only its own record', async (t) => {
  const { folder, id, path, bytes, ends } = await written(t)
  const harmed = Buffer.from(bytes)
  const third = (ends[2] ?? 0) + FRAME_BYTES + 1
  harmed[third] = (harmed[third] ?? 0) ^ 255
  writeFileSync(path, harmed)
  const read = await wholeJournal(folder, id)
  t.equal(read.entries.length, 2)
  t.same([read.open.length, read.isWhole], [0, false])
})

t.test(
  'a record with a forged amount counts as damaged: no amount in the books is negative or not a number',
  async (t) => {
    const folder = await openFolder(t)
    for (const nano of [-1, NaN, Infinity, 0.5, 2 ** 53]) {
      const journal = journalIn(folder)
      journal.settle(journal.take(someTake('call-a', nano)), someSettlement('call-a', nano))
      journal.giveBack({
        kind: 'give_back',
        day: '2026-11-19',
        accountId: `k${'0f'.repeat(32)}`,
        amountNano: nano,
      })
      journal.write()
      journal.close()
      t.match(await wholeJournal(folder, journal.id), { entries: [], open: [], isWhole: false }, String(nano))
    }
  },
)

t.test('zeros after the last record make a journal not whole', async (t) => {
  const { folder, id, path, bytes } = await written(t)
  writeFileSync(path, Buffer.concat([bytes, Buffer.alloc(40)]))
  t.notOk((await wholeJournal(folder, id)).isWhole)
})

t.test('entries after an offset are the entries that end after it', async (t) => {
  const { folder, id, bytes, ends } = await written(t)
  const head = ends[0] ?? 0
  const behindFirst = await wholeJournal(folder, id, (ends[6] ?? 0) - head)
  t.same(
    behindFirst.entries.map(({ kind }) => kind),
    ['give_back'],
  )
  t.equal(behindFirst.to, bytes.length - head)
  t.same((await wholeJournal(folder, id, behindFirst.to)).entries, [])
})

t.test('a file that ends before the applied offset is not whole', async (t) => {
  const { folder, id, bytes } = await written(t)
  const read = await wholeJournal(folder, id, bytes.length + 1)
  t.same([read.entries.length, read.isWhole], [0, false])
})

t.test('progress of a call that has ended or is not in the journal opens no take', async (t) => {
  const folder = await openFolder(t)
  const journal = journalIn(folder)
  const ended = journal.take(someTake('ended'))
  journal.write()
  journal.settle(ended, someSettlement('ended'))
  journal.progress(ended, someProgress())
  journal.write()
  journal.progress(ended, someProgress())
  journal.progress(99, someProgress())
  journal.write()
  const read = await wholeJournal(folder, journal.id)
  t.same([read.entries.length, read.open, read.isWhole], [1, [], true])
})

t.test('a reader refuses an unknown kind of record, and everything that depends on it', async (t) => {
  const { folder, id, path, bytes, ends } = await written(t)
  // As a reader of before D28 sees progress.
  const unknown = Buffer.from(bytes)
  const body = unknown.subarray((ends[3] ?? 0) + FRAME_BYTES, ends[4])
  t.equal(body[0], KIND.progress)
  body[0] = 200
  unknown.writeUInt32LE(crc32(body), (ends[3] ?? 0) + 4)
  writeFileSync(path, unknown)
  const read = await wholeJournal(folder, id)
  t.same([read.entries.length, read.isWhole], [2, false])
})
