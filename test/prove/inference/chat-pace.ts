/** Nothing of a stream waits for what follows it, and a stream that is silent lives. */
import type { Program } from '../proof.ts'
import { DIALECTS } from './dialects/dialects.ts'
import { lockstep } from './streams/pace-lockstep.ts'
import { silence } from './streams/pace-silence.ts'

export const program: Program = {
  text: 'each event leaves before the next one comes, and a provider that is silent for 90 s is waited for',
  async run(proof) {
    for (const dialect of DIALECTS) {
      await lockstep(proof, dialect)
      await silence(proof, dialect)
    }
  },
}
