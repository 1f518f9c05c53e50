import type { Caller } from '../../schemas/values/callers.ts'
import type { AnswerBudget } from './answer-budget.ts'

/** Announced bytes above which a body is copied into its buffer as it arrives, instead of joined at the end. */
const PLACED_BYTES_MIN = 4 * 1024 * 1024
/**
 * Share of an announced body that must have arrived before its buffer is created: an announced length alone
 * costs the sender nothing and must not create a buffer.
 */
const PLACED_SHARE = 1 / 4
/** Early pieces that are copied with each later piece, so that all of them are in the buffer before the last piece arrives. */
const MOVED_PIECES = 2

const EMPTY = new Uint8Array(0)
/** Never changed: the first piece creates a new list. */
const NO_PIECES: Uint8Array[] = []

export interface RoomWaiter {
  granted(isGranted: boolean): void
}

/** The body of one answer as it arrives, and its part of the front's budget. */
export class HeldBody {
  sizeBytes = 0
  readonly #budget: AnswerBudget
  readonly #announcedBytes: number
  readonly #caller: Caller | null
  #place: Uint8Array | null = null
  /** Pieces that arrived before the buffer existed. */
  #pieces: Uint8Array[] = NO_PIECES
  #moved = 0
  /** Bytes of these pieces that are in the buffer. */
  #movedBytes = 0
  #heldBytes = 0
  #stopWaiting: (() => void) | null = null
  #waiter: RoomWaiter | null = null

  /** @param announcedBytes -1: the answer does not state its length */
  constructor(budget: AnswerBudget, announcedBytes: number, caller: Caller | null = null) {
    this.#budget = budget
    this.#announcedBytes = announcedBytes
    this.#caller = caller
  }

  get isWaiting(): boolean {
    return this.#stopWaiting !== null
  }

  /**
   * Keeps a piece. False: the budget has no room for it now, so read no more until `waiter` is granted room.
   * The piece is kept even then, since it is already in memory.
   * @param isToCopy the piece is valid only in this turn
   */
  push(piece: Uint8Array, waiter: RoomWaiter, isToCopy = false): boolean {
    if (this.#place === null) this.#add(isToCopy ? Buffer.from(piece) : piece)
    else this.#place.set(piece, this.sizeBytes)
    this.sizeBytes += piece.length
    this.#arrange()
    return this.#announcedBytes >= 0 || this.hold(piece.length, waiter)
  }

  /** The first piece creates a list of one: a push onto an empty list would reserve room for 17 pieces, and most bodies have one. */
  #add(piece: Uint8Array): void {
    if (this.#pieces.length === 0) this.#pieces = [piece]
    else this.#pieces.push(piece)
  }

  #arrange(): void {
    const bytes = this.#announcedBytes
    if (this.#place !== null) this.#move(this.#place, MOVED_PIECES)
    else if (bytes > PLACED_BYTES_MIN && this.sizeBytes >= bytes * PLACED_SHARE)
      this.#place = Buffer.allocUnsafeSlow(bytes)
  }

  #move(place: Uint8Array, count: number): void {
    const end = Math.min(this.#moved + count, this.#pieces.length)
    for (; this.#moved < end; this.#moved++) {
      const piece = this.#pieces[this.#moved] ?? EMPTY
      place.set(piece, this.#movedBytes)
      this.#movedBytes += piece.length
      this.#pieces[this.#moved] = EMPTY
    }
  }

  /**
   * Takes room from the budget. When the budget has none, `waiter` is called once: with true when room was
   * granted, with false when it never will be or the body is dropped.
   */
  hold(bytes: number, waiter: RoomWaiter): boolean {
    if (this.#heldBytes === 0 && this.#budget.take(bytes, this.#caller)) {
      this.#heldBytes = bytes
      return true
    }
    const claim = { bytes, heldBytes: this.#heldBytes, caller: this.#caller }
    if (this.#heldBytes > 0 && this.#budget.grow(claim)) {
      this.#heldBytes += bytes
      return true
    }
    this.#waiter = waiter
    let answer: boolean | null = null
    const stopWaiting = this.#budget.wait(claim, (isGranted) => {
      answer = isGranted
      this.#stopWaiting = null
      if (isGranted) this.#heldBytes += bytes
      waiter.granted(isGranted)
    })
    if (answer === null) this.#stopWaiting = stopWaiting
    return answer === true
  }

  /** Joins all pieces, also those that wait for room: they are in memory, and nothing is left to be read after a grant. */
  join(): Uint8Array | Promise<Uint8Array> {
    this.#stopWaiting?.()
    this.#stopWaiting = null
    this.#waiter = null
    if (this.#place === null) return assemble(this.#pieces, this.sizeBytes)
    this.#move(this.#place, this.#pieces.length)
    return this.#place
  }

  /**
   * Passes the held part of the budget to the result made from the body, and returns the rest.
   * @returns a function that returns the part to the budget, once
   */
  handOver(sizeBytes: number): () => void {
    const [budget, caller] = [this.#budget, this.#caller]
    let heldBytes = Math.min(this.#heldBytes, sizeBytes)
    const restBytes = this.#heldBytes - heldBytes
    this.#heldBytes = 0
    if (restBytes > 0) budget.give(restBytes, caller)
    return () => {
      if (heldBytes > 0) budget.give(heldBytes, caller)
      heldBytes = 0
    }
  }

  /** Returns the held part of the budget and drops the bytes. */
  drop(): void {
    if (this.#stopWaiting !== null) {
      this.#stopWaiting()
      this.#stopWaiting = null
      this.#waiter?.granted(false)
    }
    if (this.#heldBytes > 0) this.#budget.give(this.#heldBytes, this.#caller)
    this.#heldBytes = 0
    this.#pieces = NO_PIECES
    this.#place = null
    this.sizeBytes = 0
  }
}

/** Bytes that are copied in one turn of the loop: about a millisecond. */
const TURN_BYTES = 4 * 1024 * 1024

/**
 * Joins the pieces of a body; a large body over several turns, since a single copy of 100 MB would block the
 * loop.
 * @param pieces each piece is removed from the list as soon as it is copied, so that a large body is never in
 * memory twice
 */
export function assemble(pieces: Uint8Array[], sizeBytes: number): Uint8Array | Promise<Uint8Array> {
  const only = pieces[0]
  if (pieces.length === 1 && only !== undefined) return only
  return sizeBytes <= TURN_BYTES ? Buffer.concat(pieces, sizeBytes) : assembleInTurns(pieces, sizeBytes)
}

async function assembleInTurns(pieces: Uint8Array[], sizeBytes: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let filled = 0
  let turnEndsAt = TURN_BYTES
  for (const [at, piece] of pieces.entries()) {
    whole.set(piece, filled)
    filled += piece.length
    pieces[at] = EMPTY
    if (filled < turnEndsAt) continue
    turnEndsAt = filled + TURN_BYTES
    await nextTurn()
  }
  return whole
}

function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
