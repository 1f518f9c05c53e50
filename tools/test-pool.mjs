/** Runs test files side by side: as many as the cores bear, longest first. */
import { cpus } from 'node:os'

/** Decision: three test files at once. Many of them start several processes of their own. */
const JOBS = 3
/**
 * Decision: and, while the cores have little to do, up to four more. A machine that does ten other things
 * gets none of them.
 */
const SPARE_JOBS = 4
const IDLE_SHARE_LEAST = 0.15
/** Milliseconds over which the pool looks at the cores: a file that has just begun is at work then. */
const LOOK_MS = 1_000
/** Decision: the spare files leave this much memory, in bytes. A file that starts two nodes takes 1 GB. */
const MEMORY_LEAST = 2 * 2 ** 30

/**
 * Files that for most of their time wait for processes, leases and delays of the product's own. One of them
 * runs beside those that calculate as long as there is one, and spare places are theirs first.
 */
const isWaiting = (path) => /^dist\/test\/(?:prove|readme|server\/(?:cli|supervisor))\//.test(path)

/**
 * @param files in the order in which they are to begin
 * @param run of one file; must not reject
 */
export async function runPool(files, run) {
  const waiting = files.filter(isWaiting)
  const others = files.filter((path) => !isWaiting(path))
  const isLeft = () => waiting.length + others.length > 0
  let [running, waitingRunning] = [0, 0]
  let before = coreTimes()

  await new Promise((resolve) => {
    const begin = (...lists) => {
      const path = lists.find((list) => list.length > 0).shift()
      const own = isWaiting(path) ? 1 : 0
      running++
      waitingRunning += own
      void run(path).then(() => {
        running--
        waitingRunning -= own
        fill()
      })
    }
    const fill = () => {
      while (running < JOBS && isLeft())
        begin(...(waitingRunning === 0 ? [waiting, others] : [others, waiting]))
      if (running > 0) return
      clearInterval(looks)
      resolve()
    }
    const looks = setInterval(() => {
      const now = coreTimes()
      const idleShare = (now.idle - before.idle) / (now.all - before.all)
      before = now
      const isRoomy = (process.availableMemory?.() ?? Infinity) >= MEMORY_LEAST
      const mayBegin = isLeft() && running < JOBS + SPARE_JOBS
      if (mayBegin && isRoomy && idleShare >= IDLE_SHARE_LEAST) begin(waiting, others)
    }, LOOK_MS)
    fill()
  })
}

/** Milliseconds since the boot, of all cores together. */
function coreTimes() {
  const times = cpus().map((core) => core.times)
  const sum = (values) => values.reduce((one, other) => one + other, 0)
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((core) => Object.values(core))) }
}
