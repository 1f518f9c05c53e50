/** What a caller sends reaches its provider byte for byte, but for the members that are Sluice's. */
import type { Program } from '../proof.ts'
import { bodies } from './fidelity/bodies.ts'
import { DIALECTS } from './fidelity/faithful-dialect.ts'
import { strictClients } from './fidelity/strict-clients.ts'
import { strictResponsesClient } from './fidelity/strict-responses.ts'
import { strict } from './fidelity/strict.ts'
import { turns } from './fidelity/turns.ts'

export const program: Program = {
  text: 'random bodies of three sizes reach the provider byte for byte; strict ones accept all; turns share their prefix',
  async run(proof) {
    for (const dialect of DIALECTS) {
      await bodies(proof, dialect)
      await turns(proof, dialect)
    }
    await strict(proof)
    await strictClients(proof)
    await strictResponsesClient(proof)
  },
}
