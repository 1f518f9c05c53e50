/**
 * A front reduced to its money: takes, settles, gives back and flushes at random, and reports each step
 * beforehand.
 */
import { writeSync } from 'node:fs'
import { openJournal } from '../../../../src/server/journal/journal.ts'
import type { Journal, Settlement } from '../../../../src/server/ports/money/journal.ts'
import type { Lender, OpenTake } from '../../../../src/server/ports/money/lending.ts'
import type { AccountKind } from '../../../../src/server/ports/money/money.ts'
import { someProgress, TEST_BOOT } from '../../../support/money/journal.ts'
import { SILENT } from '../../../support/log.ts'
import type { Owners } from '../../../support/money/money.ts'
import { Proof } from '../../proof.ts'
import type { Fault, FaultPoints } from './faults.ts'

/** What one process is to do; its only argument, as JSON. */
export interface Order {
  readonly role: 'front' | 'recovery'
  readonly databaseUrl: string
  readonly folder: string
  readonly journalId: string
  readonly owners: Owners
  readonly seed: number
  readonly turns: number
  readonly fault: Fault
  readonly nth: number
}

/** What a front is about to do with a call. */
export type Step =
  | { readonly what: 'take' | 'progress' | 'settle'; readonly id: string; readonly nano: number }
  | { readonly what: 'release'; readonly id: string }

/** One line each, before the next step. */
export type Answer =
  | Step
  /** Everything reported before is on disk; or the disk refused, and the takes of the turn never were. */
  | { readonly what: 'written' | 'refused' }

const KINDS: readonly AccountKind[] = ['organization', 'workspace', 'key']
/** Nano-USD that a front asks for when its purse is below the half of it. */
const LENT = 20_000
const BOUND_MAX = 2_000
const SEGMENT_BYTES = 6_000
/** So few that some are read again. */
const ENTRIES_IN_MEMORY = 6
const BATCH = 4
const PAID = { organization: true, workspace: true, key: true }
const HOLDER = { pid: 1, startedAt: 'a test' }

interface Held {
  readonly id: string
  readonly takeId: number
  readonly bound: number
}

export class SmallFront {
  readonly #order: Order
  readonly #points: FaultPoints
  readonly #lender: Lender
  readonly #random: Proof
  readonly #journal: Journal
  readonly #held: Held[] = []
  /** One number for all three accounts: they are taken from alike. */
  #balance = 0
  #day = '2000-01-01'
  #sequence = 0
  #calls = 0

  constructor(order: Order, points: FaultPoints, lender: Lender) {
    this.#order = order
    this.#points = points
    this.#lender = lender
    this.#random = new Proof({ seed: order.seed, isShort: true, say: () => undefined })
    const { folder, journalId: id } = order
    this.#journal = openJournal({
      folder,
      id,
      node: 'a-node',
      bootId: TEST_BOOT,
      holder: HOLDER,
      log: SILENT,
      disk: points.disk,
      segmentBytes: SEGMENT_BYTES,
      entriesMax: ENTRIES_IN_MEMORY,
    })
  }

  async open(): Promise<void> {
    this.#day = await this.#lender.open({ id: this.#journal.id, node: 'a-node', bootId: TEST_BOOT })
  }

  async lend(): Promise<void> {
    if (this.#balance > LENT / 2) return
    const accounts = KINDS.map((kind) => ({
      accountId: this.#order.owners.accounts[kind],
      needNano: LENT,
      leastNano: 1,
      useNano: 0,
    }))
    const ask = {
      journalId: this.#journal.id,
      sequence: ++this.#sequence,
      liveFronts: 1,
      day: this.#day,
      accounts,
    }
    const reply = await this.#lender.lend(ask)
    // A proof is not run at midnight twice in a row: the next one begins another day.
    if (reply === null || (this.#balance > 0 && reply.day !== this.#day))
      throw new Error('the lease is of another day')
    this.#day = reply.day
    this.#balance += Math.min(...reply.accounts.map(({ lentNano }) => lentNano))
  }

  takeSome(): void {
    const taken: Held[] = []
    for (let count = this.#random.random(4); count > 0; count--) {
      const bound = 1 + this.#random.random(BOUND_MAX)
      if (bound > this.#balance) continue
      const id = `${this.#order.seed}-${this.#order.fault}-${this.#calls++}`
      tell({ what: 'take', id, nano: bound })
      taken.push({ id, bound, takeId: this.#journal.take(this.#take(id, bound)) })
      this.#balance -= bound
    }
    if (this.#write()) this.#held.push(...taken)
    else for (const { bound } of taken) this.#balance += bound
  }

  /** Answers that stream report their progress. */
  progressSome(): void {
    for (const call of this.#held) {
      if (this.#random.random(3) > 0) continue
      const nano = this.#random.random(call.bound + 1)
      tell({ what: 'progress', id: call.id, nano })
      this.#journal.progress(call.takeId, someProgress(nano, { paid: PAID }))
    }
    this.#write()
  }

  endSome(): void {
    // The oldest never ends: its take is carried from segment to segment.
    for (let count = this.#random.random(4); count > 0 && this.#held.length > 1; count--) {
      const [call] = this.#held.splice(1 + this.#random.random(this.#held.length - 1), 1)
      if (call === undefined) return
      const isFree = this.#random.random(4) === 0
      const cost = isFree ? 0 : this.#random.random(call.bound + 1)
      tell(isFree ? { what: 'release', id: call.id } : { what: 'settle', id: call.id, nano: cost })
      if (isFree) this.#journal.release(call.takeId)
      else this.#journal.settle(call.takeId, this.#settlement(call.id, cost))
      this.#balance += call.bound - cost
    }
    this.#write()
  }

  giveBack(): void {
    if (this.#random.random(3) > 0 || this.#journal.isBroken) return
    const amountNano = this.#random.random(this.#balance + 1)
    for (const kind of KINDS) {
      this.#journal.giveBack({
        kind: 'give_back',
        day: this.#day,
        accountId: this.#order.owners.accounts[kind],
        amountNano,
      })
    }
    this.#balance -= amountNano
    this.#points.at('give_back:gathered')
    this.#write()
    this.#points.at('give_back:written')
  }

  async flush(): Promise<void> {
    for (let batch = this.#journal.next(BATCH); batch !== null; batch = this.#journal.next(BATCH)) {
      if ((await this.#lender.flush(batch)) === 'fenced') throw new Error('the journal was closed')
      this.#journal.applied(batch.to)
      this.#points.at('applied:after')
    }
  }

  #write(): boolean {
    const isWritten = this.#journal.write()
    tell({ what: isWritten ? 'written' : 'refused' })
    return isWritten
  }

  #take(requestId: string, bound: number): OpenTake {
    return { ...this.#call(requestId), amounts: { organization: bound, workspace: bound, key: bound } }
  }

  #settlement(requestId: string, costNano: number): Settlement {
    return {
      kind: 'settle',
      ...this.#call(requestId),
      provider: 'acme',
      tokens: 1,
      milliseconds: 1,
      costNano,
      overrunNano: 0,
      isByok: false,
      isEstimated: false,
    }
  }

  #call(requestId: string) {
    const { organizationId, workspaceId, keyHash, keyAccountId } = this.#order.owners
    const owner = { organizationId, workspaceId, keyHash, keyAccountId }
    return {
      day: this.#day,
      atMs: Date.now(),
      requestId,
      operation: 'embeddings.create',
      ...owner,
      model: 'acme/m',
      paid: PAID,
    }
  }
}

/** A pipe keeps what was written, however the writer ends. */
function tell(reported: Answer): void {
  writeSync(1, `${JSON.stringify(reported)}\n`)
}
