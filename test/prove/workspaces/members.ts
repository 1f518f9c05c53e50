/** A mapping that is changed and deleted at once, and a group with as many members as a company. */
import { crowd } from './members/crowd.ts'
import { races } from './members/races.ts'
import type { Program } from '../proof.ts'

export const program: Program = {
  text: 'PATCH against DELETE of one mapping on two fronts; a sync of 100,000 members, and model reads beside it',
  async run(proof) {
    await races(proof)
    await crowd(proof)
  },
}
