import { until } from '../../../support/nodes/node.ts'
import { tree, type ProcessRow } from '../../../support/load/process-cpu.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { Stand } from '../../../support/nodes/stand.ts'
import { median, type Proof } from '../../proof.ts'
import { isAnswered } from './hanging.ts'

const BACK_MS_MEDIAN = 500
const GIVE_UP_MS = 60_000
const LOOK_MS = 5

/** All fronts die at once, again and again: the one that is loaded ahead takes the listening place. */
export async function allKilled(proof: Proof, stand: Stand): Promise<void> {
  const rounds = proof.isShort ? 2 : 12
  // A node at rest has no spare.
  await until('a call is answered', () => isAnswered(stand))
  const backs: number[] = []
  for (let round = 0; round < rounds; round++) {
    await untilWhole(stand)
    backs.push(await killAll(stand))
    proof.say(`all fronts killed ${round + 1}: answered after ${backs.at(-1)?.toFixed(0) ?? '?'} ms`)
  }
  const figures = `median ${median(backs).toFixed(0)} ms, most ${Math.max(...backs).toFixed(0)} ms of ${rounds}`
  proof.check(
    'a node answers again whenever all of its fronts were killed',
    backs.every((ms) => ms < GIVE_UP_MS),
    `${backs.length} times`,
  )
  proof.checkTimed('within 500 ms at the median', median(backs) <= BACK_MS_MEDIAN, figures)
  await until('all fronts are back', () => stand.fronts().length === 2)
}

/** Every front serves, and another one is loaded: its CPU time stands still. */
async function untilWhole(stand: Stand): Promise<void> {
  let before = -1
  await until('the node is whole', async () => {
    const cpuS = spareOf(stand)?.cpuS ?? -1
    const isStill = cpuS > 0 && cpuS === before
    before = cpuS
    if (isStill && stand.fronts().length === 2) return true
    await pause(300)
    return false
  })
}

function spareOf(stand: Stand): ProcessRow | undefined {
  return tree(stand.pid).find(
    (row) => row.parent === stand.pid && row.state !== 'Z' && row.arguments.includes('spare'),
  )
}

/** Milliseconds from the kill to the first good answer to a known key. */
async function killAll(stand: Stand): Promise<number> {
  for (const pid of stand.fronts()) process.kill(pid, 'SIGKILL')
  const killedAt = performance.now()
  while (!(await isAnswered(stand)) && performance.now() - killedAt < GIVE_UP_MS) await pause(LOOK_MS)
  return performance.now() - killedAt
}
