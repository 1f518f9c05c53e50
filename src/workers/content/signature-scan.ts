import { AUTOMATA, pairOf } from './automaton.ts'

/** A byte sequence that is searched at every place of a stream. */
export interface Signature {
  /** One character for each byte. */
  readonly bytes: string
  /** Letters of either case match. Then `bytes` is in lower case. */
  readonly isCaseless?: boolean
  /** A further condition on LOOK_AHEAD_BYTES from `at` on; fewer bytes at the end of the file. */
  readonly holds?: (view: Uint8Array, at: number) => boolean
}

/** The longest signature with the bytes that are checked after it. */
export const LOOK_AHEAD_BYTES = 48

interface Candidate<S extends Signature> {
  readonly signature: S
  /** Offset of the pair within the signature. */
  readonly into: number
}

/**
 * Signatures by pairs of their bytes. With a stride of four only every fourth place of a stream is looked up: exactly
 * one pair of each signature of five bytes or more is at such a place. The automata do the lookup, and have room for
 * one such table.
 */
export class SignatureTable<S extends Signature> {
  readonly candidates: (readonly Candidate<S>[])[] = [[]]
  /** For each pair of bytes the number of its candidates; 0 for a pair that begins no signature. */
  readonly pairs = new Uint8Array(65_536)
  readonly stride: 1 | 4

  constructor(stride: 1 | 4, signatures: readonly S[]) {
    this.stride = stride
    for (const signature of signatures) {
      if (signature.bytes.length <= stride)
        throw new Error(`${signature.bytes} is too short for a stride of ${stride}`)
      for (let into = 0; into < stride; into++) {
        for (const pair of pairsOf(signature, into)) this.#add(pair, { signature, into })
      }
    }
    if (stride === 4) AUTOMATA.setPairs(this.pairs)
  }

  #add(pair: number, candidate: Candidate<S>): void {
    const known = this.pairs[pair] ?? 0
    const place = known === 0 ? this.candidates.length : known
    if (place > 255) throw new Error('too many pairs of bytes for a one-byte counter')
    this.candidates[place] = [...(known === 0 ? [] : (this.candidates[known] ?? [])), candidate]
    this.pairs[pair] = place
  }
}

function pairsOf({ bytes, isCaseless }: Signature, into: number): readonly number[] {
  const cases = (at: number): readonly number[] => {
    const lower = bytes.charCodeAt(at)
    return isCaseless === true && isLetter(lower) ? [lower, lower - 0x20] : [lower]
  }
  return cases(into).flatMap((first) => cases(into + 1).map((second) => pairOf(first, second)))
}

function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a
}

/**
 * Reports every place of a stream with a signature of the table. The scan lags the stream by LOOK_AHEAD_BYTES, so
 * that its reports do not depend on where the stream is cut.
 */
export class SignatureScan<S extends Signature> {
  readonly #table: SignatureTable<S>
  readonly #onFound: (signature: S) => void
  /** The last bytes, whose places wait for the bytes that follow; the buffer has room for these too. */
  readonly #border = new Uint8Array(2 * LOOK_AHEAD_BYTES)
  #waiting = 0

  constructor(table: SignatureTable<S>, onFound: (signature: S) => void) {
    this.#table = table
    this.#onFound = onFound
  }

  push(chunk: Uint8Array): void {
    const ahead = Math.min(LOOK_AHEAD_BYTES, chunk.length)
    this.#border.set(chunk.subarray(0, ahead), this.#waiting)
    const joined = this.#waiting + ahead
    if (chunk.length >= LOOK_AHEAD_BYTES) {
      const to = chunk.length - LOOK_AHEAD_BYTES
      this.#scan(this.#border.subarray(0, joined), this.#waiting)
      this.#scan(chunk, to)
      this.#border.set(chunk.subarray(to))
      this.#waiting = LOOK_AHEAD_BYTES
    } else if (joined > LOOK_AHEAD_BYTES) {
      const ready = joined - LOOK_AHEAD_BYTES
      this.#scan(this.#border.subarray(0, joined), ready)
      this.#border.copyWithin(0, ready, joined)
      this.#waiting = LOOK_AHEAD_BYTES
    } else this.#waiting = joined
  }

  /** Scans the last bytes. Call once. */
  finish(): void {
    this.#scan(this.#border.subarray(0, this.#waiting), this.#waiting)
    this.#waiting = 0
  }

  /** Searches for signatures that begin before `to`. */
  #scan(view: Uint8Array, to: number): void {
    const { pairs, stride } = this.#table
    const end = Math.min(view.length, to + stride - 1)
    if (stride === 4 && AUTOMATA.isHeld(view)) return this.#scanHeld(view, { to, end })
    for (let at = 0; at < end; at += stride) {
      const place = pairs[pairOf(view[at] ?? 0, view[at + 1] ?? 0)] ?? 0
      if (place !== 0) this.#look(view, { at, to, place })
    }
  }

  /**
   * Searches pairs with vectors, except where candidates follow each other closely: starting a search costs more than
   * looking at one pair.
   */
  #scanHeld(view: Uint8Array, { to, end }: { to: number; end: number }): void {
    const { pairs, stride } = this.#table
    for (let at = 0; at < end; at += stride) {
      if (pairs[pairOf(view[at] ?? 0, view[at + 1] ?? 0)] === 0) at = AUTOMATA.pairIn(view, at + stride, end)
      const place = at < end ? (pairs[pairOf(view[at] ?? 0, view[at + 1] ?? 0)] ?? 0) : 0
      if (place !== 0) this.#look(view, { at, to, place })
    }
  }

  #look(view: Uint8Array, { at, to, place }: { at: number; to: number; place: number }): void {
    for (const { signature, into } of this.#table.candidates[place] ?? []) {
      const start = at - into
      if (start >= 0 && start < to && stands(signature, view, start)) this.#onFound(signature)
    }
  }
}

function stands({ bytes, isCaseless, holds }: Signature, view: Uint8Array, at: number): boolean {
  for (let nth = 0; nth < bytes.length; nth++) {
    const byte = view[at + nth] ?? -1
    const wanted = bytes.charCodeAt(nth)
    if (byte !== wanted && !(isCaseless === true && isLetter(wanted) && (byte | 0x20) === wanted))
      return false
  }
  return holds === undefined || holds(view, at)
}
