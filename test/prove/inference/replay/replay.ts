/** Calls whose both wires are kept: two recordings of the same calls have the same bytes. */
import { Proof, tally, type Program } from '../../proof.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { callsOf } from './cases.ts'
import { differencesOf, record } from './recording.ts'

const CALLS = { full: 2_000, short: 300 }
/** The others are refused before a provider is called. */
const REACHING_MIN = 0.8
/** Differing calls that are named. */
const NAMED_MAX = 40

export const program: Program = {
  text: 'calls of every dialect, form and fault are recorded twice, or --to DIR [--against DIR]: the same bytes',
  seed: 44,
  async run(proof) {
    const { seed, isShort, folders } = proof
    if (folders.to !== null && folders.to === folders.against)
      throw new Error('--to would overwrite what --against names')
    const count = isShort ? CALLS.short : CALLS.full
    const about = `${count} calls of seed ${seed}\n`
    const recorded = async (folder: string): Promise<string> => {
      // Again from the seed: answers may keep what they gave.
      const seeded = new Proof({ seed, isShort, say: proof.say })
      const all = callsOf((below) => seeded.random(below), count)
      const { calls, reaching, requests, bytes, statuses } = await record(all, folder, about)
      const answer = `${calls} calls, ${requests} requests at providers, ${(bytes / 1e6).toFixed(1)} MB`
      proof.check(
        `recorded in ${folder}`,
        calls === count && !(0 in statuses),
        `${answer}; ${tally(statuses)}`,
      )
      const share = reaching / calls
      proof.check('calls that reach a provider', share >= REACHING_MIN, `${(share * 100).toFixed(1)} %`)
      return folder
    }
    const now = await recorded(folders.to ?? temporaryFolder(proof, 'replay'))
    if (folders.to !== null && folders.against === null) return
    const before = folders.against ?? (await recorded(temporaryFolder(proof, 'replay')))
    const differing = differencesOf(now, before)
    for (const line of differing.slice(0, NAMED_MAX)) proof.say(line)
    proof.check(`the same bytes as in ${before}`, differing.length === 0, `${differing.length} calls differ`)
  },
}
