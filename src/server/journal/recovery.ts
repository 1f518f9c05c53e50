import type { Closing, ClosingReport, Lender, OpenTake } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'
import { journalHead, readJournal, removeJournal, type Batch } from './reader.ts'
import { journalsIn, segmentFiles, type Holder } from './segments.ts'

/**
 * Milliseconds until the first repetition of a failed attempt; each further wait is twice as long. Postgres
 * may be unavailable for long.
 */
const RETRY_MS_MIN = 200
/** Milliseconds of the longest wait between two attempts. */
const RETRY_MS_MAX = 10_000

export interface RecoveryOptions {
  readonly folder: string
  readonly lender: Pick<Lender, 'flush' | 'close'>
  /** The journal's row in the store; null when the store does not know the journal. */
  readonly stateOf: (id: string) => Promise<{ readonly isOpen: boolean; readonly applied: number } | null>
  readonly bootId: string
  /**
   * Stores records of calls whose answers were streaming when the front died. Called before their money is
   * booked, at each attempt; a record is stored only once.
   */
  readonly keep?: (takes: readonly OpenTake[]) => Promise<void>
  /** Removes the front's other data, once its journal is in the books. Repeated until it succeeds. */
  readonly clear?: (id: string) => Promise<void>
  /** Whether the process that writes the journal still runs. */
  readonly isRunning: (holder: Holder) => boolean
  readonly log: Log
  readonly wait?: (ms: number) => Promise<void>
  /** Number of entries in one flush. */
  readonly batchEntries?: number
}

export interface Recovery {
  /** Starts with all journals in the folder: call it before any front has a journal. */
  start(): void
  /** The front is dead. */
  frontEnded(id: string): void
  /** Resolves when no work is left, or after `msMax`. */
  settled(msMax: number): Promise<void>
  /** Starts no more work; the next start continues it. */
  close(): Promise<void>
}

/** Brings the journals of dead fronts into the books, one after the other, and removes their files. Never rejects. */
export function openRecovery(options: RecoveryOptions): Recovery {
  const { folder, log } = options
  const wait = options.wait ?? pause
  const work = new Set<Promise<void>>()
  /** The sequence of all attempts: a journal that always fails does not delay the others. */
  let tries: Promise<void> = Promise.resolve()
  let isClosed = false
  let wake = (): void => undefined
  const ending = new Promise<void>((resolve) => {
    wake = resolve
  })
  const recover = async (id: string): Promise<void> => {
    for (let delay = RETRY_MS_MIN; !isClosed; delay = Math.min(2 * delay, RETRY_MS_MAX)) {
      const one = tries.then(() => (isClosed ? undefined : recoverJournal(id, options)))
      tries = one.catch(() => undefined)
      try {
        return await one
      } catch (cause) {
        // Only the first failure is logged; the log line of the success shows that the failures have ended.
        if (delay === RETRY_MS_MIN) log.warn('journal_not_recovered_yet', { journal: id, cause })
      }
      await Promise.race([wait(delay), ending])
    }
  }
  const add = (id: string): void => {
    const done = recover(id).finally(() => work.delete(done))
    work.add(done)
  }
  return {
    start() {
      for (const id of journalsIn(folder)) add(id)
    },
    frontEnded: add,
    settled: (msMax) => Promise.race([Promise.all(work).then(() => undefined), wait(msMax)]),
    async close() {
      isClosed = true
      wake()
      await Promise.all(work)
    },
  }
}

/**
 * One attempt. Attempts may be repeated and may run in two processes at once: offsets show which entries are
 * in the ledger, and files are removed only when all entries are. Rejects when the store or the disk fails,
 * and while the front runs.
 */
export async function recoverJournal(id: string, options: Omit<RecoveryOptions, 'wait'>): Promise<void> {
  const { folder, log } = options
  if (segmentFiles(folder, id).length === 0) {
    await options.clear?.(id)
    return removeJournal(folder, id)
  }
  const head = await journalHead(folder, id)
  if (head !== null && options.isRunning(head.holder))
    throw new Error(`process ${head.holder.pid} is still writing the journal`)
  const state = await options.stateOf(id)
  const report = state === null ? await unknown(id, options) : await hand(id, state, options)
  if (report === null) return
  await options.clear?.(id)
  await removeJournal(folder, id)
  const { entries, forfeits, forfeitedNano, returnedNano, isWhole } = report
  const sums = { forfeitedNano: String(forfeitedNano), returnedNano: String(returnedNano) }
  log[isWhole ? 'info' : 'warn']('journal_recovered', {
    journal: id,
    isWhole,
    isLate: state?.isOpen === false,
    entries,
    forfeits,
    ...sums,
  })
}

type Report = ClosingReport & { readonly isWhole: boolean }
type Known = NonNullable<Awaited<ReturnType<RecoveryOptions['stateOf']>>>

/** Flushes all parts but the last, so that no transaction grows with the file; the last part closes the journal. */
async function hand(id: string, { isOpen, applied }: Known, options: RecoveryOptions): Promise<Report> {
  const { folder, lender, bootId } = options
  const head = await journalHead(folder, id)
  const reading = readJournal(folder, id, { from: applied, batchEntries: options.batchEntries })
  let entries = 0
  const pass = async (rest: Batch): Promise<void> => {
    entries += rest.entries.length
    if (isOpen) {
      if ((await lender.flush({ journalId: id, ...rest })) === 'fenced')
        throw new Error('another process has closed the journal')
    } else await lender.close({ journalId: id, rest, open: [], isComplete: true })
  }
  let last: Batch | null = null
  for (;;) {
    const step = await reading.next()
    if (step.done === true) {
      const { open, isWhole } = step.value
      const isComplete = isWhole && head?.bootId === bootId
      // If a settlement is missing, its take seems open, and its unused part may have been taken again. So the
      // rest of the lease is forfeited once, which is never more than was lent.
      const closing: Closing = { journalId: id, rest: last, open: isWhole ? open : [], isComplete }
      if (closing.open.length > 0) await options.keep?.(closing.open)
      const report = await lender.close(closing)
      return { ...report, entries: entries + report.entries, isWhole: isComplete }
    }
    if (last !== null) await pass(last)
    last = step.value
  }
}

/**
 * A front that died before its journal was registered has lent nothing. If the journal contains entries
 * nevertheless, it is kept for people to examine.
 */
async function unknown(id: string, { folder, log }: RecoveryOptions): Promise<Report | null> {
  const reading = readJournal(folder, id, { from: 0 })
  let entries = 0
  for (;;) {
    const step = await reading.next()
    if (step.done !== true) entries += step.value.entries.length
    else if (entries === 0 && step.value.open.length === 0) break
    else {
      log.error('journal_unknown', { journal: id, entries, open: step.value.open.length })
      return null
    }
  }
  return { isClosed: false, entries: 0, forfeits: 0, forfeitedNano: 0n, returnedNano: 0n, isWhole: true }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
