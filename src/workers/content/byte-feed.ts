import type { StructureEnd, StructureScanner } from './verdict.ts'

/**
 * A type's structure, written as if the file lay in one piece: a generator that yields whenever it needs
 * bytes which have not come yet, and returns its judgement.
 */
export type Walk = (feed: ByteFeed) => Generator<void, StructureEnd>

/** Turns a walk into a scanner of chunks. A walk that returned is not resumed. */
export function walker(walk: Walk): StructureScanner {
  const feed = new ByteFeed()
  const steps = walk(feed)
  let end: StructureEnd | null = null
  const resume = (): boolean => {
    if (end !== null) return false
    const step = steps.next()
    if (step.done === true) end = step.value
    return end === null
  }
  return {
    push: (chunk) => {
      if (end !== null) return false
      feed.give(chunk)
      const isRunning = resume()
      feed.leave()
      return isRunning
    },
    finish: () => {
      feed.close()
      resume()
      if (end === null) throw new Error('a walk went on waiting after the last byte')
      return end
    },
  }
}

/**
 * The bytes of a file for one walk. `view[at]` to `view[limit - 1]` may be read at once; `has(n)` makes at
 * least n bytes readable there, joining pieces if it must. It holds at most the n bytes last asked for, never
 * a chunk: the session seals chunks in place.
 */
export class ByteFeed {
  view: Uint8Array = EMPTY
  at = 0
  limit = 0
  isClosed = false
  /** Bytes before the current chunk, and what of the chunk is not in the view yet. */
  #chunk: Uint8Array = EMPTY
  #chunkAt = 0
  #carry: Uint8Array = EMPTY
  #passed = 0

  give(chunk: Uint8Array): void {
    this.#passed += this.#chunk.length
    this.#chunk = chunk
    this.#chunkAt = 0
    if (this.at < this.limit) return
    this.#openChunk()
  }

  /**
   * The chunk is read to its end: not even a view without bytes may stay, since its buffer may be moved away.
   */
  leave(): void {
    this.#passed += this.#chunk.length
    this.#chunk = EMPTY
    this.#chunkAt = 0
    if (this.at < this.limit) return
    this.view = EMPTY
    this.at = this.limit = 0
  }

  close(): void {
    this.isClosed = true
  }

  /** Bytes of the file before `view[at]`. */
  get offset(): number {
    return this.#passed + this.#chunkAt - (this.limit - this.at)
  }

  /** Whether n bytes are readable from `view[at]`. When not, whatever is left is kept for the next chunk. */
  has(n: number): boolean {
    if (this.limit - this.at >= n) return true
    if (this.at === this.limit && this.#chunk.length - this.#chunkAt >= n) {
      this.#openChunk()
      return true
    }
    return this.#join(n)
  }

  /** Passes over up to n bytes of what has come. @returns how many of them are still to come */
  jump(n: number): number {
    const inView = Math.min(n, this.limit - this.at)
    this.at += inView
    const inChunk = Math.min(n - inView, this.#chunk.length - this.#chunkAt)
    this.#chunkAt += inChunk
    return n - inView - inChunk
  }

  u8(offset = 0): number {
    return this.view[this.at + offset] ?? 0
  }

  u16le(offset: number): number {
    return this.u8(offset) | (this.u8(offset + 1) << 8)
  }

  u32le(offset: number): number {
    return (this.u16le(offset) | (this.u16le(offset + 2) << 16)) >>> 0
  }

  u16be(offset: number): number {
    return (this.u8(offset) << 8) | this.u8(offset + 1)
  }

  u32be(offset: number): number {
    return ((this.u16be(offset) << 16) | this.u16be(offset + 2)) >>> 0
  }

  /** Above 2⁵³ it is inexact, which every file's size is far below. */
  u64le(offset: number): number {
    return this.u32le(offset) + this.u32le(offset + 4) * 2 ** 32
  }

  /** Four bytes as text, as chunk names are written. */
  name(offset: number): string {
    return this.latin1(offset, 4)
  }

  latin1(offset: number, length: number): string {
    let text = ''
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.u8(offset + i))
    return text
  }

  #openChunk(): void {
    this.view = this.#chunk
    this.at = this.#chunkAt
    this.limit = this.#chunkAt = this.#chunk.length
  }

  /** Copies what is left of the view, and of the chunk as much as is missing, into a place of its own. */
  #join(n: number): boolean {
    const left = this.limit - this.at
    if (this.view !== this.#chunk && left <= this.#chunkAt) {
      // What is left lies in this chunk, too: reading goes on there, or it would be joined byte by byte for
      // ever.
      this.#chunkAt -= left
      this.#openChunk()
      return this.limit - this.at >= n || this.#join(n)
    }
    const more = Math.min(n - left, this.#chunk.length - this.#chunkAt)
    if (this.#carry.length < n) {
      const grown = new Uint8Array(Math.max(CARRY_BYTES, n))
      grown.set(this.view.subarray(this.at, this.limit))
      this.#carry = grown
    } else if (this.view === this.#carry) {
      this.#carry.copyWithin(0, this.at, this.limit)
    } else {
      this.#carry.set(this.view.subarray(this.at, this.limit))
    }
    this.#carry.set(this.#chunk.subarray(this.#chunkAt, this.#chunkAt + more), left)
    this.#chunkAt += more
    this.view = this.#carry
    this.at = 0
    this.limit = left + more
    return this.limit >= n
  }
}

/** Waits until n bytes are readable. False: the file ends before that. */
export function* more(feed: ByteFeed, n: number): Generator<void, boolean> {
  while (!feed.has(n)) {
    if (feed.isClosed) return false
    yield
  }
  return true
}

/** Passes over n bytes without looking at them. False: the file ends before that. */
export function* skip(feed: ByteFeed, n: number): Generator<void, boolean> {
  let left = feed.jump(n)
  while (left > 0) {
    if (feed.isClosed) return false
    yield
    left = feed.jump(left)
  }
  return true
}

/** Passes over the zero bytes of the view. False: another byte comes next. */
export function passZeros(feed: ByteFeed): boolean {
  const { view, limit } = feed
  let at = feed.at
  while (at < limit && view[at] === 0) at++
  feed.at = at
  return at === limit
}

const EMPTY = new Uint8Array(0)
/** Bytes of the joining place at first: the longest fixed header of the formats that are walked. */
const CARRY_BYTES = 64
