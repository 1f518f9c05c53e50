import {
  COALESCED_BYTES_MAX,
  COALESCED_BYTES_MIN,
  UPLOADS_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MIN,
} from '../../schemas/files/file-limits.ts'
import { detach } from '../detach.ts'

/** Bytes of spare buffers that are kept for reuse; a front without uploads keeps none. */
const SPARE_BYTES_MAX = 8 * 1024 * 1024

/** One upload's part of the budget. */
export interface Share {
  heldBytes: number
  /** Bytes of the last push: the next will be about as large. */
  pushBytes: number
  /** Set while the upload waits for room. */
  hasRoom: (() => void) | null
}

/**
 * The bytes of a front's uploads on their way to the threads, in all and for each upload, and their buffers.
 * Design §5.
 */
export class UploadBudget {
  readonly #shares = new Set<Share>()
  readonly #spare: ArrayBuffer[] = []
  #heldBytes = 0
  #spareBytes = 0

  get heldBytes(): number {
    return this.#heldBytes
  }

  get windowBytes(): number {
    const fair = Math.floor(UPLOADS_BYTES_MAX / Math.max(1, this.#shares.size))
    return Math.min(UPLOAD_WINDOW_BYTES_MAX, Math.max(UPLOAD_WINDOW_BYTES_MIN, fair))
  }

  join(): Share {
    const share: Share = { heldBytes: 0, pushBytes: 0, hasRoom: null }
    this.#shares.add(share)
    return share
  }

  leave(share: Share): void {
    if (!this.#shares.delete(share)) return
    share.hasRoom = null
    this.give(share, share.heldBytes)
    if (this.#shares.size > 0) return
    detach(this.#spare.splice(0))
    this.#spareBytes = 0
  }

  take(share: Share, bytes: number): void {
    share.heldBytes += bytes
    share.pushBytes = Math.min(bytes, UPLOAD_WINDOW_BYTES_MAX)
    this.#heldBytes += bytes
  }

  /** Calls the waiting uploads that have room now, the oldest first. */
  give(share: Share, bytes: number): void {
    const isTight = this.#heldBytes + UPLOAD_WINDOW_BYTES_MAX > UPLOADS_BYTES_MAX
    share.heldBytes -= bytes
    this.#heldBytes -= bytes
    for (const waiting of isTight ? this.#shares : [share]) {
      const { hasRoom } = waiting
      if (hasRoom === null || !this.fits(waiting)) continue
      waiting.hasRoom = null
      hasRoom()
    }
  }

  /**
   * Whether another push of the same length fits. A push larger than the window gets the window for itself.
   */
  fits({ heldBytes, pushBytes }: Share): boolean {
    const fitsFront = this.#heldBytes === 0 || this.#heldBytes + pushBytes <= UPLOADS_BYTES_MAX
    return fitsFront && (heldBytes === 0 || heldBytes + pushBytes <= this.windowBytes)
  }

  /** A quarter of the window, so that the thread works while the next buffer fills. */
  buffer(): ArrayBuffer {
    const length = Math.min(COALESCED_BYTES_MAX, Math.max(COALESCED_BYTES_MIN, this.windowBytes >> 2))
    const spare = this.#spare.pop()
    if (spare === undefined) return Buffer.allocUnsafeSlow(length).buffer
    this.#spareBytes -= spare.byteLength
    return spare
  }

  recycle(buffer: ArrayBuffer): void {
    const isFit = buffer.byteLength >= COALESCED_BYTES_MIN && this.#shares.size > 0
    if (!isFit || this.#spareBytes + buffer.byteLength > SPARE_BYTES_MAX) return detach([buffer])
    this.#spareBytes += buffer.byteLength
    this.#spare.push(buffer)
  }
}
