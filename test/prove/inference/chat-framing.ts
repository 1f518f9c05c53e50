/** A stream in any framing gives the caller the same, and a damaged one never looks whole. */
import type { Program, Proof } from '../proof.ts'
import { DIALECTS } from './dialects/dialects.ts'
import { pairsOf } from './dialects/pairs.ts'
import type { ProvedDialect } from './dialects/proved-dialect.ts'
import { inProcess, type ReaderSize } from './streams/framing-reader.ts'
import { overSockets, type SocketSize } from './streams/framing-sockets.ts'

interface Size {
  readonly reader: ReaderSize
  readonly sockets: SocketSize
}

const FULL: Size = { reader: { mutated: 1_000_000 }, sockets: { step: 1, mutated: 20_000 } }
const SHORT: Size = {
  reader: { streams: 1, cuts: 250, mutated: 1_000 },
  sockets: { step: 1_201, singly: 6, mutated: 100 },
}
const TRANSLATED: Size = {
  reader: { cuts: 60, mutated: 10_000 },
  sockets: { step: 251, mutated: 400 },
}
const TRANSLATED_SHORT: Size = {
  reader: { streams: 1, cuts: 20, mutated: 300 },
  // So many that some of them are whole, and some are not.
  sockets: { step: 4_001, singly: 4, mutated: 120 },
}

export const program: Program = {
  text: 'streams cut at every byte, in every framing, and mutated: the same events, never a false end',
  run: (proof) => tryAll(proof, DIALECTS, proof.isShort ? SHORT : FULL),
  translated: (proof) => tryAll(proof, pairsOf(proof), proof.isShort ? TRANSLATED_SHORT : TRANSLATED),
}

async function tryAll(proof: Proof, dialects: readonly ProvedDialect[], size: Size): Promise<void> {
  for (const dialect of dialects) {
    inProcess(proof, dialect, size.reader)
    await overSockets(proof, dialect, size.sockets)
  }
}
