import fc from 'fast-check'
import { mock } from 'node:test'
import t from 'tap'
import { FairSemaphore, type FairSemaphoreOptions } from '../../../src/server/structures/fair-semaphore.ts'
import { Semaphore } from '../../../src/server/structures/semaphore.ts'
import { SwapList, FairQueue } from '../../../src/server/structures/swap-list.ts'
import { gate } from '../../support/gate.ts'

const RUNS = { numRuns: 300 }
const WAIT_MS = 1_000
const TENANTS = ['a', 'b', 'c', 'd'] as const

interface Arrival {
  readonly tenant: string
  readonly weight: number
}

type Step = Arrival | 'end' | 'late'

function stepsOf(weightMax: number): fc.Arbitrary<readonly Step[]> {
  const arrival = fc.record({
    tenant: fc.constantFrom(...TENANTS),
    weight: fc.integer({ min: 1, max: weightMax }),
  })
  return fc.array(
    fc.oneof({ weight: 5, arbitrary: arrival }, fc.constant('end' as const), fc.constant('late' as const)),
    { minLength: 1, maxLength: 60 },
  )
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

interface Work extends Arrival {
  state: 'waiting' | 'running' | 'over' | 'refused'
  leave: () => void
}

/** A semaphore with all the work that came to it. */
class Crowd {
  readonly works: Work[] = []
  /** Tenants in the order in which their work entered. */
  readonly entered: Work[] = []
  readonly #semaphore: FairSemaphore

  constructor(options: FairSemaphoreOptions) {
    this.#semaphore = new FairSemaphore(options)
  }

  async do(step: Step): Promise<void> {
    if (step === 'end') this.running()[0]?.leave()
    else if (step === 'late') mock.timers.tick(WAIT_MS)
    else this.#arrive(step)
    await settled()
  }

  running(tenant?: string): readonly Work[] {
    return this.#in('running', tenant)
  }

  waiting(tenant?: string): readonly Work[] {
    return this.#in('waiting', tenant)
  }

  /** Ends work until none is left. @returns false when work waits that never runs */
  async finish(): Promise<boolean> {
    while (this.running().length > 0) await this.do('end')
    return this.waiting().length === 0
  }

  #arrive(arrival: Arrival): void {
    const work: Work = { ...arrival, state: 'waiting', leave: () => undefined }
    this.works.push(work)
    void Promise.resolve(this.#semaphore.enter(arrival)).then((leave) => {
      work.state = leave === null ? 'refused' : 'running'
      if (leave === null) return
      this.entered.push(work)
      work.leave = () => {
        work.state = 'over'
        // A second call changes nothing.
        leave()
        leave()
      }
    })
  }

  #in(state: Work['state'], tenant?: string): readonly Work[] {
    return this.works.filter(
      (work) => work.state === state && (tenant === undefined || work.tenant === tenant),
    )
  }
}

function weightOf(works: readonly Work[]): number {
  return works.reduce((sum, { weight }) => sum + weight, 0)
}

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

t.test('FairSemaphore: the bounds hold at every moment, and no place and no work is lost', async () => {
  const options = { places: 5, placesOfOne: 3, waitingMax: 12, waitingOfOneMax: 6, waitMs: WAIT_MS }
  await fc.assert(
    fc.asyncProperty(stepsOf(options.placesOfOne), async (steps) => {
      const crowd = new Crowd(options)
      for (const step of steps) {
        await crowd.do(step)
        if (weightOf(crowd.running()) > options.places || crowd.waiting().length > options.waitingMax)
          return false
        const isOver = TENANTS.some(
          (tenant) =>
            weightOf(crowd.running(tenant)) > options.placesOfOne ||
            crowd.waiting(tenant).length > options.waitingOfOneMax,
        )
        if (isOver) return false
      }
      if (!(await crowd.finish())) return false
      // All places are free again.
      for (const tenant of ['a', 'b']) await crowd.do({ tenant, weight: tenant === 'a' ? 3 : 2 })
      return weightOf(crowd.running()) === options.places
    }),
    RUNS,
  )
})

t.test('FairSemaphore: work waits for at most one turn of each other tenant, and in its order', async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf(1), fc.integer({ min: 1, max: 3 }), async (steps, places) => {
      const crowd = new Crowd({ places })
      /** Turns of other tenants since the tenant began to wait for its next one. */
      const passed = new Map<string, string[]>()
      let seen = 0
      const look = (): boolean => {
        for (; seen < crowd.entered.length; seen++) {
          const { tenant = '' } = crowd.entered[seen] ?? {}
          passed.delete(tenant)
          for (const others of passed.values()) others.push(tenant)
        }
        for (const tenant of TENANTS)
          if (crowd.waiting(tenant).length > 0 && !passed.has(tenant)) passed.set(tenant, [])
        return [...passed.values()].every((others) => new Set(others).size === others.length)
      }
      for (const step of steps) {
        await crowd.do(step)
        if (!look()) return false
      }
      if (!(await crowd.finish()) || !look()) return false
      return TENANTS.every((tenant) => {
        const of = (works: readonly Work[]) => works.filter((work) => work.tenant === tenant)
        return of(crowd.works).every((work, nth) => of(crowd.entered)[nth] === work)
      })
    }),
    RUNS,
  )
})

t.test('FairSemaphore: a tenant that uses all of its places does not hold up the others', async (t) => {
  const crowd = new Crowd({ places: 3, placesOfOne: 2 })
  for (let nth = 0; nth < 5; nth++) await crowd.do({ tenant: 'a', weight: 1 })
  await crowd.do({ tenant: 'b', weight: 1 })
  t.equal(crowd.running('a').length, 2)
  t.equal(crowd.running('b').length, 1)
  t.ok(await crowd.finish())
})

t.test('FairQueue: loses no item, and an item waits for at most one of each other workspace', async () => {
  const steps = fc.array(fc.option(fc.constantFrom(...TENANTS)), { maxLength: 80 })
  fc.assert(
    fc.property(steps, (given) => {
      const queue = new FairQueue<{ workspaceId: string; nth: number }>()
      const inside = new Map<string, number[]>()
      const passed = new Map<string, string[]>()
      const shift = (): boolean => {
        const item = queue.shift()
        const isEmpty = [...inside.values()].every((items) => items.length === 0)
        if (item === null) return isEmpty
        const { workspaceId, nth } = item
        passed.delete(workspaceId)
        for (const others of passed.values()) others.push(workspaceId)
        const own = inside.get(workspaceId) ?? []
        if (own.shift() !== nth) return false
        if (own.length > 0) passed.set(workspaceId, [])
        return [...passed.values()].every((others) => new Set(others).size === others.length)
      }
      let count = 0
      for (const [nth, workspaceId] of given.entries()) {
        if (workspaceId === null) {
          if (!shift()) return false
          continue
        }
        queue.push({ workspaceId, nth })
        const own = inside.get(workspaceId) ?? []
        if (own.length === 0) passed.set(workspaceId, [])
        inside.set(workspaceId, [...own, nth])
        count = Math.max(count, queue.size)
      }
      while (queue.size > 0) if (!shift()) return false
      return count <= given.length && queue.shift() === null && shift()
    }),
    RUNS,
  )
})

t.test('Semaphore: work runs in its order within the limit, even if some of it fails', async () => {
  const works = fc.array(fc.boolean(), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(works, fc.integer({ min: 1, max: 4 }), async (given, countMax) => {
      const semaphore = new Semaphore(countMax)
      const begun: number[] = []
      let [running, most] = [0, 0]
      const ends = given.map(() => gate())
      const all = given.map((isFailing, nth) =>
        semaphore.run(async () => {
          begun.push(nth)
          most = Math.max(most, ++running)
          await ends[nth]?.opened
          running--
          if (isFailing) throw new Error('broken')
          return nth
        }),
      )
      const outcomes = Promise.allSettled(all)
      // The youngest that runs ends first.
      while (running > 0) {
        ends[begun.at(-1) ?? 0]?.open()
        for (const nth of begun) ends[nth]?.open()
        await settled()
      }
      const asGiven = (await outcomes).every(({ status }, nth) => (status === 'rejected') === given[nth])
      return (
        asGiven && most <= countMax && begun.every((nth, at) => nth === at) && begun.length === given.length
      )
    }),
    RUNS,
  )
})

t.test('SwapList: holds the same values as a set', async () => {
  const steps = fc.array(fc.record({ isAdded: fc.boolean(), nth: fc.nat({ max: 9 }) }), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (given) => {
      const list = new SwapList<{ place: number }>()
      const members = Array.from({ length: 10 }, () => ({ place: -1 }))
      const model = new Set<{ place: number }>()
      for (const { isAdded, nth } of given) {
        const member = members[nth]
        if (member === undefined) return false
        if (!isAdded) {
          list.delete(member)
          model.delete(member)
        } else if (!model.has(member)) {
          list.add(member)
          model.add(member)
        }
        const held = new Set(list.list())
        if (list.size !== model.size || [...model].some((one) => !held.has(one))) return false
      }
      return members.every((member) => (member.place === -1) === !model.has(member))
    }),
    RUNS,
  )
})
