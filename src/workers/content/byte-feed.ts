import type { StructureEnd, StructureScanner } from './verdict.ts'

/**
 * The structure of a type, written as if the file were in one piece: a generator that yields whenever it needs bytes
 * that have not arrived, and returns its decision.
 */
export type Walk = (feed: ByteFeed) => Generator<void, StructureEnd>

/** Turns a walk into a scanner of chunks. A walk that has returned is not resumed. */
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
      if (end === null) throw new Error('a scan is still waiting after the last byte')
      return end
    },
  }
}

/**
 * The bytes of a file for one walk. `view[at]` to `view[limit - 1]` may be read at once; `has(n)` makes at
 * least n bytes readable there, and joins pieces if necessary. The feed keeps at most the n bytes last
 * requested, never a chunk: the session seals chunks in place.
 */
export class ByteFeed {
  view: Uint8Array = EMPTY
  at = 0
  limit = 0
  isClosed = false
  #chunk: Uint8Array = EMPTY
  /** Bytes of the chunk that are in the view or skipped. */
  #chunkAt = 0
  /** The buffer in which pieces are joined. */
  #carry: Uint8Array = EMPTY
  /** Bytes before the current chunk. */
  #passed = 0

  give(chunk: Uint8Array): void {
    this.#passed += this.#chunk.length
    this.#chunk = chunk
    this.#chunkAt = 0
    if (this.at < this.limit) return
    this.#openChunk()
  }

  /** The chunk has been read to its end. Not even an empty view may keep its buffer, which may be transferred. */
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

  /** Whether n bytes are readable from `view[at]`. If not, the rest is kept for the next chunk. */
  has(n: number): boolean {
    if (this.limit - this.at >= n) return true
    if (this.at === this.limit && this.#chunk.length - this.#chunkAt >= n) {
      this.#openChunk()
      return true
    }
    return this.#join(n)
  }

  /** Skips up to n bytes of those that have arrived. @returns how many of them are still missing */
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

  /** Inexact above 2⁵³, far above the size of any file. */
  u64le(offset: number): number {
    return this.u32le(offset) + this.u32le(offset + 4) * 2 ** 32
  }

  /** Four bytes as text, as in the names of chunks. */
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

  /** Copies the rest of the view, and the missing bytes from the chunk, into a separate buffer. */
  #join(n: number): boolean {
    const left = this.limit - this.at
    if (this.view !== this.#chunk && left <= this.#chunkAt) {
      // The rest is in this chunk too: reading continues there, instead of joining byte by byte forever.
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

/** Waits until n bytes are readable. False: the file ends before. */
export function* more(feed: ByteFeed, n: number): Generator<void, boolean> {
  while (!feed.has(n)) {
    if (feed.isClosed) return false
    yield
  }
  return true
}

/** Skips n bytes without reading them. False: the file ends before. */
export function* skip(feed: ByteFeed, n: number): Generator<void, boolean> {
  let left = feed.jump(n)
  while (left > 0) {
    if (feed.isClosed) return false
    yield
    left = feed.jump(left)
  }
  return true
}

/** Skips the zero bytes of the view. False: another byte comes next. */
export function passZeros(feed: ByteFeed): boolean {
  const { view, limit } = feed
  let at = feed.at
  while (at < limit && view[at] === 0) at++
  feed.at = at
  return at === limit
}

const EMPTY = new Uint8Array(0)
/** Initial size of the joining buffer: the longest fixed header of all walked formats. */
const CARRY_BYTES = 64
