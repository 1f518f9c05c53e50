import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ClipInput, StoredClip, VideoClips } from '../ports/videos/video-work.ts'
import { copy } from './copy.ts'
import { ObjectWriting, type ObjectDeps } from './object-writing.ts'

/**
 * Bytes of free quota that a clip needs before its download: the clip's length is unknown until then, and
 * most clips are far shorter than the longest. Decision.
 */
export const VIDEO_CLIP_ROOM_BYTES = 67_108_864

/** Copies clips from a provider into storage. A copy that fails or throws leaves at most one object without a row, which the sweep removes. */
export function createVideoClips(deps: ObjectDeps): VideoClips {
  return {
    store: (input) => storeClip(deps, input),
    remove: (objectId) => deps.storage.remove(objectId),
  }
}

async function storeClip(deps: ObjectDeps, input: ClipInput): Promise<Outcome<StoredClip>> {
  const { bytes, bytesMax, objectId } = input
  const object = new ObjectWriting(deps, input)
  try {
    const opened = await object.open({
      content: 'any',
      bytesAtMost: Math.min(VIDEO_CLIP_ROOM_BYTES, bytesMax),
      bytesMax,
    })
    if (!opened.ok) return opened
    const { session, dataKeyId } = opened.value
    const written = await copy(checked(bytes), session, input.signal)
    if (!written.ok) return written
    const published = await object.publish()
    const { sizeBytes, sha256 } = written.value
    return published.ok ? ok({ objectId, dataKeyId, sizeBytes, sha256 }) : published
  } finally {
    bytes.close()
    await object.end()
  }
}

/** Passes the bytes on unchanged, and fails when they are not an MP4. */
function checked(bytes: ByteReader): ByteReader {
  const walk = new Mp4Walk()
  return {
    async next() {
      const piece = await bytes.next()
      if (!piece.ok) return piece
      const isFine = piece.value === null ? walk.isWhole : walk.take(piece.value)
      return isFine ? piece : fail('video_clip_invalid')
    },
    close: () => bytes.close(),
  }
}

/** Bytes of the longest box header: size, type, and a size of 64 bits. ISO/IEC 14496-12 §4.2. */
const HEADER_BYTES = 16
/** Bytes of a box header without a 64-bit size: size and type. ISO/IEC 14496-12 §4.2. */
const SHORT_HEADER_BYTES = 8
/** The brands come first in an MP4: the `ftyp` box names the specifications that the file follows. */
const FIRST = 'ftyp'
/** Boxes without which a clip cannot be played: its structure (`moov`) and its pictures (`mdat`). */
const NEEDED = ['moov', 'mdat'] as const
const WANTED: ReadonlySet<string> = new Set([FIRST, ...NEEDED])

/**
 * Follows the outermost boxes of an MP4 while its bytes are passed on, in pieces of any size, and reads only
 * the box headers. They suffice to distinguish a clip from a page of text, and a complete clip from a cut-off
 * one.
 */
export class Mp4Walk {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  /** Bytes of the current box that are still missing. Infinity: the box extends to the end of the file. */
  #left = 0
  readonly #seen = new Set<string>()
  #isBroken = false

  /** @returns false as soon as the bytes cannot be an MP4 */
  take(bytes: Uint8Array): boolean {
    let at = 0
    while (at < bytes.length && !this.#isBroken) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, bytes.length - at)
        this.#left -= skipped
        at += skipped
      } else {
        at = this.#takeHeader(bytes, at)
      }
    }
    return !this.#isBroken
  }

  /** True when the bytes ended at the end of a box and every needed box was present. */
  get isWhole(): boolean {
    const isAtEnd = this.#headerBytes === 0 && (this.#left === 0 || this.#left === Infinity)
    return !this.#isBroken && isAtEnd && NEEDED.every((type) => this.#seen.has(type))
  }

  #takeHeader(bytes: Uint8Array, at: number): number {
    this.#header[this.#headerBytes++] = bytes[at] ?? 0
    const size = this.#headerBytes < SHORT_HEADER_BYTES ? null : this.#header.readUInt32BE(0)
    if (size === null || (size === 1 && this.#headerBytes < HEADER_BYTES)) return at + 1
    const type = this.#header.toString('latin1', 4, 8)
    const whole = size === 1 ? Number(this.#header.readBigUInt64BE(8)) : size
    const left = size === 0 ? Infinity : whole - this.#headerBytes
    const isFirst = this.#seen.size === 0
    if (left < 0 || !Number.isSafeInteger(size === 0 ? 0 : whole) || (isFirst && type !== FIRST))
      this.#isBroken = true
    // Only these types are remembered: a file may hold millions of others, and each would take memory.
    if (WANTED.has(type)) this.#seen.add(type)
    this.#left = left
    this.#headerBytes = 0
    return at + 1
  }
}
