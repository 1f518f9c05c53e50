import { randomBytes, randomUUID } from 'node:crypto'
import { openJournal, type JournalOptions } from '../../../src/server/journal/journal.ts'
import { readJournal, type JournalEnd } from '../../../src/server/journal/reader.ts'
import type { Journal, Settlement } from '../../../src/server/ports/money/journal.ts'
import type { BookEntry, OpenTake, TakeProgress } from '../../../src/server/ports/money/lending.ts'
import { SILENT } from '../log.ts'

export const TEST_BOOT = '7b0f2f1e-0000-4000-8000-000000000001'
const MODEL = 'openai/text-embedding-3-small'
const DAY = '2026-11-20'

/** The owner of the calls in a test's journal. */
export interface CallOwner {
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly keyAccountId: string
}

export function someOwner(): CallOwner {
  const keyHash = randomBytes(32).toString('hex')
  return { organizationId: randomUUID(), workspaceId: randomUUID(), keyHash, keyAccountId: `k${keyHash}` }
}

const OWNER = someOwner()
const PAID = { organization: true, workspace: false, key: true }

export function someTake(requestId: string, bound = 1_000, more: Partial<OpenTake> = {}): OpenTake {
  const amounts = { organization: bound, workspace: 0, key: bound }
  const facts = {
    day: DAY,
    atMs: 1_795_000_000_123,
    requestId,
    operation: 'embeddings.create',
    ...OWNER,
    model: MODEL,
  }
  return { ...facts, amounts, paid: PAID, ...more }
}

export function someProgress(costNano = 300, more: Partial<TakeProgress> = {}): TakeProgress {
  return {
    atMs: 1_795_000_000_789,
    provider: 'openai',
    model: 'openai/gpt-5.2-mini',
    tokens: 7,
    text: { outputTokens: 21, cachedTokens: 2 },
    milliseconds: 1_500,
    costNano,
    isByok: false,
    isDrained: false,
    paid: PAID,
    note: '{"id":"gen_größer"}',
    ...more,
  }
}

export function someSettlement(
  requestId: string,
  costNano = 700,
  more: Partial<Settlement> = {},
): Settlement {
  return {
    kind: 'settle',
    day: DAY,
    atMs: 1_795_000_000_456,
    requestId,
    operation: 'embeddings.create',
    ...OWNER,
    model: MODEL,
    provider: 'openai',
    tokens: 12,
    milliseconds: 34,
    costNano,
    overrunNano: 0,
    isByok: false,
    isEstimated: true,
    paid: PAID,
    ...more,
  }
}

export function journalIn(folder: string, more: Partial<JournalOptions> = {}): Journal {
  const holder = { pid: 1, startedAt: 'a test' }
  return openJournal({
    folder,
    id: randomUUID(),
    node: 'a-node',
    bootId: TEST_BOOT,
    holder,
    log: SILENT,
    ...more,
  })
}

export interface WholeJournal extends JournalEnd {
  readonly entries: readonly BookEntry[]
  /** What `entries` lead to. */
  readonly to: number
}

/** All that a dead front's journal says. */
export async function wholeJournal(folder: string, id: string, from = 0): Promise<WholeJournal> {
  const reading = readJournal(folder, id, { from })
  const entries: BookEntry[] = []
  let to = from
  for (;;) {
    const step = await reading.next()
    if (step.done === true) return { ...step.value, entries, to }
    if (step.value.from !== to) throw new Error('parts do not follow each other')
    entries.push(...step.value.entries)
    to = step.value.to
  }
}
