/** A front's money with everything around it in memory, and clocks that only the test moves. */
import { fail, type Outcome } from '../../../src/schemas/failures.ts'
import { createSpend, type FrontSpend } from '../../../src/server/money/spend.ts'
import type { Change, KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { CallCost, CostBound, Hold, Span } from '../../../src/server/ports/money/money.ts'
import type { KeyMoney } from '../../../src/server/ports/keys/keys.ts'
import { ModelJournal } from './model-journal.ts'
import { ModelLender } from './model-lender.ts'
import { NO_LIMITS } from './key-money.ts'
import { Simulation } from '../wire/rate-simulation.ts'
import { SILENT } from '../log.ts'

export const TODAY = '2026-11-20'

/** Nano-USD. */
export const usd = (amount: number): number => Math.round(amount * 1e9)

/**
 * One call: by default of key `k1` in workspace `1` of organization `1`, all of which have the limits that
 * the authority has.
 */
export interface TestCall {
  /** Its maximum cost; null when unknown. */
  readonly nano: number | null
  readonly bound?: CostBound
  readonly money?: Partial<KeyMoney>
  readonly owner?: string
  readonly signal?: () => AbortSignal
  readonly deadlineMs?: number
}

export interface MoneyWorld {
  readonly simulation: Simulation
  readonly lender: ModelLender
  /** Of every front's own calendar, before the simulation's. */
  readonly clock: { aheadMs: number }
}

export interface MoneyFront extends MoneyWorld {
  readonly spend: FrontSpend
  readonly journal: ModelJournal
  readonly fenced: () => boolean
  hold(call: TestCall): Outcome<Hold> | Promise<Outcome<Hold>>
  /** The outcome of a hold that has so many simulated milliseconds. */
  held(call: TestCall, ms?: number): Promise<Outcome<Hold>>
  /** A call that is paid and comes to its bound, or to so much. */
  paid(nano: number, costNano?: number): Promise<void>
  change(change: Change): void
  /** None of its timers runs for this time, as in a stopped process. */
  stand(ms: number): void
  /** A drain, which has a simulated second. */
  closed(): Promise<void>
  runFor(ms: number): Promise<void>
}

/** @param limits by account id, nano-USD */
export function moneyWorld(
  limits: Readonly<Record<string, Partial<Record<Span, number>>>>,
  latency = () => 1,
): MoneyWorld {
  const simulation = new Simulation()
  const lender = new ModelLender(simulation, latency, TODAY)
  for (const [id, spans] of Object.entries(limits)) lender.limits.set(id, spans)
  return { simulation, lender, clock: { aheadMs: 0 } }
}

/** @param limits by account id, nano-USD */
export function openMoney(
  limits: Parameters<typeof moneyWorld>[0] = {},
  world = moneyWorld(limits),
  { id = 'f1', liveFronts = 1, log = SILENT } = {},
): MoneyFront {
  const { simulation, lender, clock } = world
  const { timers, stand } = standingTimers(world)
  const runFor = (ms: number): Promise<void> => simulation.runUntil(simulation.now + ms)
  const journal = new ModelJournal(id)
  const listeners = new Set<(change: Change) => void>()
  let isFenced = false
  const spend = createSpend({
    lender: lender.connect(),
    journal,
    owner: { id, node: 'n', bootId: 'b' },
    fronts: { liveFronts },
    feed: { subscribe: (listener) => (listeners.add(listener), () => void listeners.delete(listener)) },
    timers,
    log,
    fenced: () => (isFenced = true),
  })
  const hold: MoneyFront['hold'] = (call) => spend.hold(holdInput(call, world))
  const held: MoneyFront['held'] = async (call, ms = 30) => {
    const outcome = hold(call)
    if (!(outcome instanceof Promise)) {
      if (outcome.ok) await runFor(0)
      return writtenOf(outcome)
    }
    let settled: Outcome<Hold> | null = null
    void outcome.then(writtenOf).then((value) => (settled = value))
    await runFor(ms)
    return settled ?? fail('internal', { detail: 'it still waits' })
  }
  return {
    simulation,
    lender,
    clock,
    spend,
    journal,
    hold,
    held,
    runFor,
    fenced: () => isFenced,
    async paid(nano, costNano = nano) {
      const outcome = await held({ nano })
      if (!outcome.ok) throw new Error(outcome.failure.name)
      outcome.value.settle(costOf(costNano))
    },
    stand,
    async closed() {
      const closing = spend.close()
      await runFor(1_000)
      await closing
    },
    change: (change) => listeners.forEach((listener) => listener(change)),
  }
}

/** Timers of a front in the world's time, none of which runs while the front stands. */
function standingTimers({ simulation, clock }: MoneyWorld): {
  readonly timers: Parameters<typeof createSpend>[0]['timers']
  readonly stand: MoneyFront['stand']
} {
  let standsUntil = 0
  const after = (ms: number, work: () => void): void =>
    simulation.after(ms, () => {
      if (simulation.now < standsUntil) after(standsUntil - simulation.now, work)
      else work()
    })
  return {
    timers: {
      now: () => simulation.now,
      epochNow: () => Date.parse(`${TODAY}T12:00:00Z`) + simulation.now + clock.aheadMs,
      after,
      soon: (work) => after(0, work),
    },
    stand: (ms) => (standsUntil = simulation.now + ms),
  }
}

/** What a front asks the money for, of a test's call. */
function holdInput(call: TestCall, world: MoneyWorld): Parameters<FrontSpend['hold']>[0] {
  const {
    nano,
    bound = { paidNano: nano, anyNano: nano },
    money = {},
    owner = '1',
    signal,
    deadlineMs = 60_000,
  } = call
  return {
    key: keyOf(owner, money, world),
    bound,
    facts: { requestId: 'r', operation: 'test', model: 'm' },
    ...(signal === undefined ? {} : { signal }),
    deadlineAt: world.simulation.now + deadlineMs,
  }
}

/** As callers go on: with what is in the journal. */
async function writtenOf(held: Outcome<Hold>): Promise<Outcome<Hold>> {
  return !held.ok || (await isWritten(held.value)) ? held : fail('store_unavailable')
}

export function costOf(costNano: number, more: Partial<CallCost> = {}): CallCost {
  return { costNano, isByok: false, isEstimated: false, provider: 'p', ...more }
}

/** A key whose flags are those of the authority's limits. */
function keyOf(owner: string, money: Partial<KeyMoney>, { lender }: MoneyWorld): KeyRecord {
  const limited = (id: string): boolean => lender.limits.has(id)
  return {
    hash: owner,
    kind: 'inference',
    name: 'test',
    organizationId: '1',
    workspaceId: '1',
    defaultWorkspaceId: '1',
    internId: null,
    rateLimitRpm: null,
    rateLimitBurst: null,
    isDisabled: false,
    isInProgramme: true,
    mayWriteVault: true,
    expiresAtMs: null,
    allowedModels: null,
    scopes: null,
    money: {
      ...NO_LIMITS,
      accountId: `k${owner}`,
      isCreditLimited: limited('o1'),
      isWorkspaceLimited: limited('w1'),
      isKeyLimited: limited(`k${owner}`),
      ...money,
    },
  }
}

/** Whether the take of a hold is written, when that is known. */
export function isWritten(hold: Hold): Promise<boolean> {
  return new Promise((resolve) => {
    const known = hold.written({ written: resolve })
    if (known !== null) resolve(known)
  })
}
