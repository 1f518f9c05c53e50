/** A stream in any framing gives the caller the same, and a damaged one never looks whole. */
import { inProcess } from './streams/framing-reader.ts'
import { overSockets } from './streams/framing-sockets.ts'
import { DIALECTS } from './dialects/dialects.ts'
import type { Program } from '../proof.ts'

export const program: Program = {
  text: 'streams cut at every byte, in every framing, and mutated: the same events, never a false end',
  async run(proof) {
    for (const dialect of DIALECTS) {
      inProcess(proof, dialect)
      await overSockets(proof, dialect)
    }
  },
}
