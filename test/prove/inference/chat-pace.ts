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
      if (!proof.isShort) await silence(proof, dialect)
    }
    // Nothing is done in them: in short they may be at the same time.
    if (proof.isShort) await Promise.all(DIALECTS.map((dialect) => silence(proof, dialect)))
  },
}
