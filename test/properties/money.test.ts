/**
 * Fronts that spend the same accounts, by the clock of a simulation: stores that fail, days that turn, fronts
 * that die or stand still.
 */
import t from 'tap'
import { MONEY_IDLE_MS } from '../../src/schemas/money/money-limits.ts'
import type { Span } from '../../src/server/ports/money/money.ts'
import {
  costOf,
  moneyWorld,
  openMoney,
  TODAY,
  usd,
  type MoneyFront,
  type MoneyWorld,
} from '../support/money/money-front.ts'
import { randomOf } from '../support/wire/rate-simulation.ts'

const SEEDS = [1, 2, 3]
const SECONDS = 8
const MODES = ['up', 'up', 'away', 'lossy'] as const

/** Outcomes that the callers of one run saw. */
interface Seen {
  paid: number
  costNano: number
  readonly refused: Map<string, number>
}

type Limits = Readonly<Record<string, Partial<Record<Span, number>>>>

interface Run {
  readonly world: MoneyWorld
  readonly fronts: readonly MoneyFront[]
  readonly seen: Seen
  readonly random: () => number
}

function openRun(seed: number, limits: Limits, fronts = 4): Run {
  const random = randomOf(seed)
  const world = moneyWorld(limits, () => 1 + random() * 20)
  const seen: Seen = { paid: 0, costNano: 0, refused: new Map() }
  return {
    world,
    fronts: Array.from({ length: fronts }, (_, i) =>
      openMoney({}, world, { id: `f${i}`, liveFronts: fronts }),
    ),
    seen,
    random,
  }
}

/** One caller of a front: calls one after the other, of random bounds, costs and durations. */
function call(run: Run, front: MoneyFront, until: number): void {
  const {
    world: { simulation },
    random,
    seen,
  } = run
  if (simulation.now >= until) return
  const nano = Math.ceil(random() * usd(0.001))
  const again = (): void => simulation.after(random() * 100, () => call(run, front, until))
  void Promise.resolve(front.hold({ nano, owner: `${1 + Math.floor(random() * 3)}` })).then((held) => {
    if (!held.ok) {
      seen.refused.set(held.failure.name, (seen.refused.get(held.failure.name) ?? 0) + 1)
      return again()
    }
    simulation.after(random() * 300, () => {
      if (random() < 0.1) held.value.release()
      else {
        const costNano = Math.ceil(random() * nano)
        seen.paid += 1
        seen.costNano += costNano
        held.value.settle(costOf(costNano))
      }
      again()
    })
  })
}

/** Runs callers on all fronts for a while, then lets all calls end. */
async function spendFor(run: Run, seconds: number, callersEach = 10): Promise<void> {
  const { simulation } = run.world
  const until = simulation.now + seconds * 1_000
  for (const front of run.fronts) for (let caller = 0; caller < callersEach; caller++) call(run, front, until)
  await simulation.runUntil(until + 2_000)
}

/** The daily budget runs out first. */
const DAILY = usd(0.1)
const TIGHT: Limits = {
  o1: { lifetime: usd(0.2) },
  w1: { daily: DAILY, weekly: usd(0.14), lifetime: usd(0.18) },
  k1: { daily: usd(0.02) },
  k2: { lifetime: usd(5) },
}

for (const seed of SEEDS) {
  t.test(
    `limits are fully spent and never exceeded, and every cost is booked once (seed ${seed})`,
    async (t) => {
      const run = openRun(seed, TIGHT)
      await spendFor(run, SECONDS)
      for (const front of run.fronts) await front.closed()
      const { lender } = run.world
      t.same(lender.violations, [])
      t.equal(lender.spentOf('o1'), run.seen.costNano)
      t.ok(
        lender.spentOf('w1', 'daily') >= 0.98 * DAILY,
        `${lender.spentOf('w1', 'daily')} of ${DAILY} nano-USD`,
      )
      t.equal(lender.leases.size, 0)
    },
  )

  t.test(
    `a store that fails and loses answers makes calls fail, but no cost is lost or doubled (seed ${seed})`,
    async (t) => {
      const run = openRun(seed, TIGHT)
      const { simulation, lender } = run.world
      for (let second = 0; second < SECONDS; second++) {
        const mode = MODES[Math.floor(run.random() * MODES.length)] ?? 'up'
        simulation.after(second * 1_000 + run.random() * 1_000, () => (lender.mode = mode))
      }
      await spendFor(run, SECONDS)
      lender.mode = 'up'
      await simulation.runUntil(simulation.now + 2_000)
      for (const front of run.fronts) await front.closed()
      t.same(lender.violations, [])
      t.equal(lender.spentOf('o1'), run.seen.costNano)
      t.equal(lender.usage.length, run.seen.paid)
      t.equal(lender.leases.size, 0)
    },
  )

  t.test(
    `when the day changes under load, also back and forth, each call counts in one window of each kind (seed ${seed})`,
    async (t) => {
      const run = openRun(seed, { o1: { lifetime: usd(50) }, w1: { daily: usd(0.03), monthly: usd(0.1) } })
      const { simulation, lender } = run.world
      const days = [
        TODAY,
        '2026-11-21',
        TODAY,
        '2026-11-21',
        '2026-11-30',
        '2026-12-01',
        '2026-11-30',
        '2026-12-01',
      ]
      days.forEach((day, i) =>
        simulation.after((i * SECONDS * 1_000) / days.length, () => (lender.today = day)),
      )
      run.world.clock.aheadMs = 12 * 3_600_000 - 10_000
      await spendFor(run, SECONDS)
      for (const front of run.fronts) await front.closed()
      t.same(lender.violations, [])
      t.equal(lender.spentOf('w1'), run.seen.costNano)
      for (const day of new Set(days)) t.ok(lender.spentOf('w1', 'daily', day) <= usd(0.03), day)
      for (const month of [TODAY, '2026-12-01'])
        t.ok(lender.spentOf('w1', 'monthly', month) <= usd(0.1), month)
      t.equal(lender.leases.size, 0)
    },
  )

  t.test(
    `a front that dies forfeits only its open calls, and the others spend the rest (seed ${seed})`,
    async (t) => {
      const run = openRun(seed, TIGHT)
      const { simulation, lender } = run.world
      const [dead, ...others] = run.fronts
      const closing = { forfeits: 0 }
      simulation.after(5_000, () => {
        if (dead === undefined) return
        dead.journal.write()
        closing.forfeits = lender.close(dead.journal.closing(lender.appliedOf('f0'))).forfeits
      })
      await spendFor(run, SECONDS)
      for (const front of others) await front.closed()
      t.same(lender.violations, [])
      t.ok(dead?.fenced() === true || closing.forfeits === 0)
      const spent = lender.spentOf('w1', 'daily')
      t.ok(spent <= DAILY && spent >= 0.98 * DAILY, `${spent} of ${DAILY} nano-USD`)
      t.equal(lender.leases.size, 0)
    },
  )
}

t.test('a front that stalls for 20 s keeps the money of its open calls and returns the rest', async (t) => {
  const run = openRun(7, { o1: { lifetime: usd(1) } }, 2)
  const [stopped] = run.fronts
  if (stopped === undefined) return
  await spendFor(run, 1)
  const open = await stopped.held({ nano: usd(0.001) }, 200)
  stopped.stand(20_000)
  await run.world.simulation.runUntil(run.world.simulation.now + 19_000)
  const held = run.world.lender.lentOf('o1')
  await run.world.simulation.runUntil(run.world.simulation.now + 3_000)
  if (open.ok) open.value.settle(costOf(usd(0.001)))
  await run.world.simulation.runUntil(run.world.simulation.now + MONEY_IDLE_MS + 1_000)
  t.ok(held > 0)
  t.equal(run.world.lender.leases.size, 0)
  t.equal(run.world.lender.spentOf('o1'), run.seen.costNano + usd(0.001))
  t.same(run.world.lender.violations, [])
})
