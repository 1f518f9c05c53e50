import t from 'tap'
import {
  BOOKS_FLUSH_ENTRIES_MAX as MAX,
  BOOKS_FLUSH_ENTRIES_MIN as MIN,
  BOOKS_FLUSH_ENTRIES_STEP as STEP,
  FlushBatches,
} from '../../../src/server/money/journal-flush.ts'
import type { BookEntry, Flush, FlushResult } from '../../../src/server/ports/money/lending.ts'

type Store = (flush: Flush) => FlushResult | Error

/** A journal whose offsets count entries, and books that answer as the test says. */
function open(entries = 3 * MAX) {
  const all = Array.from({ length: entries }, (): BookEntry => ({
    kind: 'give_back',
    accountId: 'w1',
    day: '2026-11-20',
    amountNano: 1,
  }))
  let applied = 0
  const books = { answer: (): FlushResult | Error => 'applied' } as { answer: Store }
  const batches = new FlushBatches({
    journal: {
      next(max) {
        const part = all.slice(applied, applied + max)
        return { journalId: 'f1', from: applied, to: applied + part.length, entries: part }
      },
    },
    lender: {
      async flush(flush) {
        const answer = books.answer(flush)
        if (answer instanceof Error) throw answer
        return answer
      },
    },
  })
  /** @returns the entries of the batch that was sent, and of that which was applied */
  const send = async (): Promise<readonly [number, number | null]> => {
    const flush = batches.next()
    if (flush === null) throw new Error('there are entries')
    const sent = await batches.send(flush).catch(() => null)
    applied = sent?.batch.to ?? applied
    return [flush.entries.length, sent?.batch.entries.length ?? null]
  }
  return { books, batches, send }
}

const slow: Store = () => new Error('too slow')

t.test(
  'a batch without an answer is halved down to a minimum, and grows again when it is applied',
  async (t) => {
    const { books, send } = open()
    books.answer = slow
    const sizes = []
    for (let sent = 0; sent < 7; sent++) sizes.push((await send())[0])
    t.same(sizes, [MAX, 1_500, 750, 375, 187, MIN, MIN])
    books.answer = () => 'applied'
    t.same(
      [await send(), await send()],
      [
        [MIN, MIN],
        [MIN + STEP, MIN + STEP],
      ],
    )
    for (let sent = 0; sent < MAX / STEP; sent++) await send()
    t.equal((await send())[0] <= MAX, true)
  },
)

t.test('a batch of few entries is not made smaller', async (t) => {
  const { books, send } = open(MIN)
  books.answer = slow
  t.same(
    [await send(), await send()],
    [
      [MIN, null],
      [MIN, null],
    ],
  )
})

t.test('a batch that was applied but got no answer is recognized by a smaller batch', async (t) => {
  const { books, send } = open()
  books.answer = slow
  await send()
  await send()
  books.answer = () => ({ standsAt: MAX })
  t.same(await send(), [750, MAX])
  const seen: Flush[] = []
  books.answer = (flush) => {
    seen.push(flush)
    return 'applied'
  }
  await send()
  t.equal(seen[0]?.from, MAX, 'and the next batch begins where that one ends')
})

t.test('books that were applied up to the middle of a batch are an error', async (t) => {
  const { books, batches } = open()
  books.answer = () => ({ standsAt: 7 })
  const flush = batches.next()
  if (flush === null) throw new Error('there are entries')
  await t.rejects(batches.send(flush), /applied up to the middle of a batch/)
})

t.test('a batch that leaves entries unsent is full, and a closed journal returns none', async (t) => {
  const { books, batches } = open(MAX + 1)
  const flush = batches.next()
  if (flush === null) throw new Error('there are entries')
  t.match(await batches.send(flush), { isFull: true })
  books.answer = () => 'fenced'
  t.equal(await batches.send(flush), null)
})
