import t from 'tap'
import { heapCollector, WORTH_COLLECTING_BYTES } from '../../../src/server/observe/heap-collector.ts'
import {
  type FollowedWork,
  LoopSampler,
  loopWork,
  type LoopWork,
} from '../../../src/server/observe/process-metrics.ts'
import { still, until } from '../../support/wait.ts'

function work(): FollowedWork & { isRunning: boolean } {
  return { isRunning: false, onBegin: () => undefined }
}

/** What the loop of a test does depends on the machine. */
const idle = (): LoopWork => ({ isBusy: false, stopMs: 0 })

/** What the loop of the test does stops nothing, and the sampler rests on. */
function restingLoop(): () => LoopWork {
  const look = loopWork()
  return () => ({ ...look(), isBusy: false })
}

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

t.test('a sampler pauses after work, and the first block of new work is sampled completely', async (t) => {
  const sampler = new LoopSampler(5, { look: idle })
  t.teardown(() => sampler.stop())
  const followed = work()
  sampler.follow(followed)
  t.equal(sampler.isResting, false, 'a process that starts works')
  await until(() => sampler.isResting)
  sampler.reset()
  followed.onBegin()
  t.equal(sampler.isResting, false)
  block(80)
  await until(() => sampler.maxS > 0.05)
  t.ok(sampler.maxS < 5 && sampler.percentileS(50) <= sampler.percentileS(99))
})

t.test('a sampler does not pause while its work continues', async (t) => {
  const sampler = new LoopSampler(5, { look: idle })
  t.teardown(() => sampler.stop())
  let asked = 0
  let isRunning = true
  const followed: FollowedWork = {
    get isRunning() {
      asked++
      return isRunning
    },
    onBegin: () => undefined,
  }
  sampler.follow(followed)
  await until(() => asked >= 2)
  t.equal(sampler.isResting, false)
  isRunning = false
  await until(() => sampler.isResting)
  t.equal(sampler.isResting, true)
})

t.test('an idle process collects garbage once, and again in its next idle period', async (t) => {
  let collected = 0
  const sampler = new LoopSampler(5, { restingMs: 1, look: idle, collect: () => void collected++ })
  t.teardown(() => sampler.stop())
  const followed = work()
  sampler.follow(followed)
  await until(() => collected === 1)
  t.equal(await still(() => collected), 1)
  followed.onBegin()
  await until(() => collected === 2)
  t.equal(collected, 2)
})

t.test('a blocked loop between two samples of an idle process is counted', async (t) => {
  const sampler = new LoopSampler(5, { restingMs: 1_000, look: restingLoop() })
  t.teardown(() => sampler.stop())
  await until(() => sampler.isResting)
  sampler.reset()
  block(200)
  await until(() => sampler.maxS > 0)
  t.ok(sampler.maxS >= 0.19 && sampler.maxS < 5, `${sampler.maxS} s`)
})

t.test('a blocked loop that delayed a call to an idle process is counted when the call begins', async (t) => {
  const sampler = new LoopSampler(5, { restingMs: 60_000, look: restingLoop() })
  t.teardown(() => sampler.stop())
  const followed = work()
  sampler.follow(followed)
  await until(() => sampler.isResting)
  sampler.reset()
  block(200)
  followed.onBegin()
  t.ok(sampler.maxS >= 0.19 && sampler.maxS < 5, `${sampler.maxS} s`)
})

t.test('the pause of a garbage collection in an idle process is counted', async (t) => {
  let collected = 0
  const collect = (): void => {
    collected++
    sampler.reset()
    block(45)
  }
  const sampler = new LoopSampler(5, { restingMs: 50, look: restingLoop(), collect })
  t.teardown(() => sampler.stop())
  await until(() => collected === 1 && sampler.maxS > 0)
  t.ok(sampler.maxS >= 0.039, `${sampler.maxS} s`)
})

t.test('many short turns in a row do not count as a blocked loop', async (t) => {
  const look = loopWork()
  let turns = 0
  setImmediate(function turn() {
    block(1)
    if (++turns < 200) setImmediate(turn)
  })
  await until(() => turns === 200)
  t.match(look(), { stopMs: 0 })
})

t.test('a stopped sampler stays stopped when work begins', async (t) => {
  const sampler = new LoopSampler(5, { look: idle })
  const followed = work()
  sampler.follow(followed)
  await until(() => sampler.isResting)
  sampler.stop()
  sampler.reset()
  followed.onBegin()
  const later = new LoopSampler(5, { look: idle })
  t.teardown(() => later.stop())
  await until(() => later.maxS > 0)
  t.equal(sampler.maxS, 0)
})

t.test('collects garbage only when the heap has grown by WORTH_COLLECTING_BYTES', (t) => {
  const heap = { usedBytes: WORTH_COLLECTING_BYTES, collected: 0, collect: () => void heap.collected++ }
  const collect = heapCollector(heap)
  const looks = [0, 1, WORTH_COLLECTING_BYTES - 1, WORTH_COLLECTING_BYTES].map((more) => {
    heap.usedBytes = WORTH_COLLECTING_BYTES + more
    collect()
    return heap.collected
  })
  t.same(looks, [1, 1, 1, 2])
  t.end()
})

t.test('without samples every figure is 0', (t) => {
  const sampler = new LoopSampler(20)
  sampler.stop()
  t.same([sampler.percentileS(50), sampler.percentileS(99), sampler.maxS], [0, 0, 0])
  t.end()
})
