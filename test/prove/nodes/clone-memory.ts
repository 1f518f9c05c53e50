/**
 * Memory of a node after the first `npm start` of a clone, which builds, against that of a later start. A minute
 * of rest each is too long for a short form among the tests.
 */
import { proportionalBytes } from '../../support/load/process-memory.ts'
import { isOnPath } from '../../support/nodes/outside-stores.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { Program } from '../proof.ts'
import { cloned, end, start, type Clone } from './clone.ts'

/** Milliseconds at rest after which the memory is read. */
const REST_MS = 60_000
/** Most memory after a first start, as a multiple of that after a second one. */
const FIRST_OVER_SECOND_MAX = 1.1
const MB = 1_000_000

export const program: Program = {
  text: 'memory of a node (PSS) a minute after the first npm start of a clone, at most 1.1 times that of the second',
  async run(proof) {
    if (!(await isOnPath('git'))) {
      proof.skipped = 'git is not on the PATH'
      return
    }
    const clone = await cloned(proof, { name: 'as this user', uid: process.getuid?.() ?? 0, mode: 0o700 })
    const first = await restingBytes(clone)
    const second = await restingBytes(clone)
    proof.check(
      'a first start keeps no more memory than a second one',
      first <= FIRST_OVER_SECOND_MAX * second,
      `${(first / MB).toFixed(0)} MB, ${(second / MB).toFixed(0)} MB at the second start`,
    )
  },
}

/** Starts the clone, lets it rest and ends it. */
async function restingBytes(clone: Clone): Promise<number> {
  const { child } = await start(clone)
  await pause(REST_MS)
  const bytes = proportionalBytes(child.pid ?? 0)
  await end(child)
  return bytes
}
