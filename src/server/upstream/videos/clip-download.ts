import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { LARGE_PIECE_BYTES } from '../../../schemas/files/file-limits.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../schemas/videos/video-limits.ts'
import { VIDEO_DOWNLOAD_BEGIN_MS } from '../../../schemas/videos/video-provider-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { Egress, EgressStream } from '../../ports/egress/egress.ts'
import type { VideoCallTimes, VideoOrder } from '../../ports/videos/video-providers.ts'
import { openOutside } from '../outside.ts'
import type { VideoLink } from './video-link.ts'

/**
 * Accepted content types of a clip; S3 names bytes of unknown type `binary/octet-stream`. The content itself
 * is checked when it is stored.
 */
const CLIP_TYPE = /^(?:video\/mp4|application\/octet-stream|binary\/octet-stream)\s*(?:;|$)/i
const OK = 200
const GONE: ReadonlySet<number> = new Set([404, 410])

export interface ClipDeps {
  readonly link: VideoLink
  readonly egress: Pick<Egress, 'vetted'>
  readonly order: VideoOrder
  readonly times: VideoCallTimes
  /** Largest clip in bytes; tests set a smaller one. */
  readonly bytesMax?: number
}

/** Reads a clip from the address that its provider names. Failures: those of `VideoProvider.download`. */
export async function fetchClip(
  url: string,
  { link, egress, order, times, bytesMax = VIDEO_CLIP_BYTES_MAX }: ClipDeps,
): Promise<Outcome<ByteReader>> {
  if (times.signal.aborted || !times.mayWrite()) return fail('client_gone')
  const opened = await openOutside(url, {
    egress,
    workspaceId: order.workspaceId,
    beginsBy: Math.min(times.endsAt, performance.now() + VIDEO_DOWNLOAD_BEGIN_MS),
    signal: times.signal,
    home: { origin: link.origin, open: (at) => link.open(at, times) },
  })
  if (!opened.ok) return opened
  const failure = faultOf(opened.value, bytesMax)
  if (failure === null) return ok(new ClipReader(opened.value.body, times, bytesMax))
  opened.value.body.close()
  return { ok: false, failure }
}

/** The failure of a response that is not a clip; null when it may be one. */
function faultOf({ status, header }: EgressStream, bytesMax: number): Failure | null {
  if (GONE.has(status)) return { name: 'video_clip_gone' }
  if (status !== OK)
    return { name: 'upstream_failed', detail: `The provider answered ${status}.`, fields: { status } }
  if (!CLIP_TYPE.test(header('content-type') ?? ''))
    return { name: 'upstream_invalid', detail: 'The provider sent a file that is not a video.' }
  if (!/^(?:identity)?$/i.test(header('content-encoding') ?? ''))
    return { name: 'upstream_invalid', detail: 'The provider sent an unsupported content encoding.' }
  return Number(header('content-length') ?? 0) > bytesMax ? tooLarge(bytesMax) : null
}

function tooLarge(limit: number): Failure {
  return { name: 'upstream_too_large', fields: { limit } }
}

/** The bytes of a clip, limited to a size and to the time of the call. */
export class ClipReader implements ByteReader {
  readonly #body: ByteReader
  readonly #signal: AbortSignal
  readonly #bytesMax: number
  readonly #timer: NodeJS.Timeout
  #readBytes = 0
  /** The failure with which Sluice itself stopped the reading; null otherwise. */
  #stopped: Failure | null = null

  constructor(
    body: ByteReader,
    { endsAt, signal }: Pick<VideoCallTimes, 'endsAt' | 'signal'>,
    bytesMax: number,
  ) {
    this.#body = body
    this.#signal = signal
    this.#bytesMax = bytesMax
    this.#timer = setTimeout(
      () => this.#stop({ name: 'upstream_slow' }),
      Math.max(0, endsAt - performance.now()),
    ).unref()
    signal.addEventListener('abort', this.#onLeave)
    if (signal.aborted) this.#onLeave()
  }

  async next(): Promise<Outcome<Uint8Array | null>> {
    const piece = await this.#body.next()
    if (this.#stopped !== null) return { ok: false, failure: this.#stopped }
    if (!piece.ok || piece.value === null) {
      this.#rest()
      return piece
    }
    this.#readBytes += piece.value.length
    if (this.#readBytes <= this.#bytesMax) return piece
    const failure = tooLarge(this.#bytesMax)
    this.#stop(failure)
    return { ok: false, failure }
  }

  close(): void {
    this.#rest()
    this.#body.close()
  }

  readonly #onLeave = (): void => this.#stop(endedBy(this.#signal))

  #stop(failure: Failure): void {
    this.#stopped ??= failure
    this.close()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#onLeave)
  }
}

/** A reader over bytes in memory. */
export function readerOf(bytes: Uint8Array): ByteReader {
  let at = 0
  return {
    next() {
      const piece = bytes.subarray(at, at + LARGE_PIECE_BYTES)
      at += piece.length
      return Promise.resolve(ok(piece.length === 0 ? null : piece))
    },
    close: () => void (at = bytes.length),
  }
}
