import type { Closing, ClosingReport, Lender } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'
import { journalHead, readJournal, removeJournal, type Batch } from './reader.ts'
import { journalsIn, segmentFiles, type Holder } from './segments.ts'

/**
 * Milliseconds until a try that failed is repeated; they double up to the second. Postgres may be away for
 * long.
 */
const RETRY_MS_MIN = 200
const RETRY_MS_MAX = 10_000

export interface RecoveryOptions {
  readonly folder: string
  readonly lender: Pick<Lender, 'flush' | 'close'>
  /** Of the books; null when the journal was never made known. */
  readonly stateOf: (id: string) => Promise<{ readonly isOpen: boolean; readonly applied: number } | null>
  readonly bootId: string
  /** What else belonged to the front: its journal is in the books. Repeated until it does not reject. */
  readonly clear?: (id: string) => Promise<void>
  /** Whether a process still writes. */
  readonly isRunning: (holder: Holder) => boolean
  readonly log: Log
  readonly wait?: (ms: number) => Promise<void>
  /** Entries that one flush takes. */
  readonly batchEntries?: number
}

export interface Recovery {
  /** Begins with all journals that lie in the folder now: call it before any front has one. */
  start(): void
  /** The front is dead. */
  frontEnded(id: string): void
  /** Resolves when nothing is left to do, or after so long. */
  settled(msMax: number): Promise<void>
  /** Begins nothing more; what is left waits for the next start. */
  close(): Promise<void>
}

/**
 * Brings the journals of dead fronts into the books, one after the other, and removes their files. Never
 * rejects.
 */
export function openRecovery(options: RecoveryOptions): Recovery {
  const { folder, log } = options
  const wait = options.wait ?? pause
  /** Journals that are not done, and the tries of all of them: one that fails for ever holds up no other. */
  const work = new Set<Promise<void>>()
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
        // The first failure is told; the end of all of them is told by the success.
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
 * One try, which may be repeated and may run in two processes at once: offsets tell what is in the books, and
 * files go only when all is. Rejects when the store or the disk fails, and while the front runs.
 */
export async function recoverJournal(id: string, options: Omit<RecoveryOptions, 'wait'>): Promise<void> {
  const { folder, log } = options
  if (segmentFiles(folder, id).length === 0) {
    await options.clear?.(id)
    return removeJournal(folder, id)
  }
  const head = await journalHead(folder, id)
  if (head !== null && options.isRunning(head.holder))
    throw new Error(`process ${head.holder.pid} still writes the journal`)
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

/**
 * All parts but the last as flushes, so that no transaction grows with the file; the last one closes the
 * journal.
 */
async function hand(id: string, { isOpen, applied }: Known, options: RecoveryOptions): Promise<Report> {
  const { folder, lender, bootId } = options
  const head = await journalHead(folder, id)
  const reading = readJournal(folder, id, { from: applied, batchEntries: options.batchEntries })
  let entries = 0
  const pass = async (rest: Batch): Promise<void> => {
    entries += rest.entries.length
    if (isOpen) {
      if ((await lender.flush({ journalId: id, ...rest })) === 'fenced')
        throw new Error('somebody else has closed the journal')
    } else await lender.close({ journalId: id, rest, open: [], isComplete: true })
  }
  let last: Batch | null = null
  for (;;) {
    const step = await reading.next()
    if (step.done === true) {
      const { open, isWhole } = step.value
      const isComplete = isWhole && head?.bootId === bootId
      // In a closed journal every open take is forfeited already. Where a settlement may be missing, its take
      // seems open, and what it did not use was taken once more: one forfeit of all that is left of the lease
      // is no more than was lent.
      const closing: Closing = { journalId: id, rest: last, open: isOpen && isWhole ? open : [], isComplete }
      const report = await lender.close(closing)
      return { ...report, entries: entries + report.entries, isWhole: isComplete }
    }
    if (last !== null) await pass(last)
    last = step.value
  }
}

/**
 * A front that died before it made its journal known has lent nothing. One that says otherwise is left for
 * people to look at.
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
