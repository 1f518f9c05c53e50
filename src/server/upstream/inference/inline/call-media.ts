import { fail, ok, type Failure, type Outcome } from '../../../../schemas/failures.ts'
import {
  FETCHED_MEDIUM_BYTES_MAX,
  FETCHED_MEDIUM_MS,
  INFERENCE_BODY_BYTES_MAX,
} from '../../../../schemas/inference/inference-limits.ts'
import { base64Bytes, WITH_FILES } from '../../../../schemas/inference/inline-files.ts'
import { endedBy } from '../../../../schemas/values/call-ended.ts'
import type { ByteReader } from '../../../ports/byte-streams.ts'
import type { AnswerRoom, Egress } from '../../../ports/egress/egress.ts'
import type { InferenceJob } from '../../../ports/inference/inference.ts'
import { openOutside, readOutside } from '../../outside.ts'
import type { ContentSource } from './file-edits.ts'
import type { MediumUrl } from '../../../../dialects/prompt/media.ts'
import { imageTypeOf } from '../../../../schemas/files/mime-types.ts'

/** Media of one call that Sluice may fetch from their addresses. Decision. */
export const FETCHED_MEDIA_MAX = 32
/** Media of one call that are fetched at once. Decision. */
export const FETCHED_AT_ONCE_MAX = 4

/** A medium that was fetched from its address. */
export interface FetchedMedium extends ContentSource {
  readonly url: string
  readonly mimeType: string
  readonly filename: string
}

export type MediaEgress = Pick<Egress, 'vetted' | 'room'>
type MediaJob = Pick<InferenceJob, 'caller' | 'call' | 'deadlineAt'>

/**
 * The media of one call that Sluice fetches, once for all of its attempts. They stay in memory, within the front's
 * budget for responses of destinations that callers choose: Sluice writes no prompts to files.
 */
export class CallMedia {
  readonly #egress: MediaEgress
  readonly #job: MediaJob
  /** Media by address; null before the first fetch. */
  #fetched: Map<string, Promise<Outcome<FetchedMedium>>> | null = null
  readonly #rooms: AnswerRoom[] = []
  #bytes = 0

  constructor(egress: MediaEgress, job: MediaJob) {
    this.#egress = egress
    this.#job = job
  }

  /**
   * Fetches all wanted media that an earlier attempt has not fetched. The first failure ends the other fetches.
   * Failures: media_unavailable, input_unsupported (too many, or content of a type that is not accepted),
   * body_too_large, busy, client_gone, draining, deadline_exceeded.
   */
  async load(wanted: readonly MediumUrl[]): Promise<Outcome<readonly FetchedMedium[]>> {
    const over = wanted[FETCHED_MEDIA_MAX]
    if (over !== undefined) return refused('input_unsupported', over, ONE_TOO_MANY)
    const round = new AbortController()
    const signal = AbortSignal.any([this.#job.call.signal, round.signal])
    const media: FetchedMedium[] = []
    const failures: Outcome<never>[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let nth = next++; failures.length === 0; nth = next++) {
        const one = wanted[nth]
        if (one === undefined) return
        const medium = await this.#medium(one, signal)
        if (medium.ok) media[nth] = medium.value
        else {
          failures.push(medium)
          round.abort()
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(FETCHED_AT_ONCE_MAX, wanted.length) }, work))
    return failures[0] ?? ok(media)
  }

  /** Releases the memory of all media; to be called on every path. */
  release(): void {
    this.#fetched = null
    for (const room of this.#rooms.splice(0)) room.give()
  }

  async #medium(wanted: MediumUrl, signal: AbortSignal): Promise<Outcome<FetchedMedium>> {
    this.#fetched ??= new Map()
    const known = this.#fetched.get(wanted.url) ?? this.#get(wanted, signal)
    this.#fetched.set(wanted.url, known)
    const medium = await known
    if (!medium.ok) {
      // The fetch was ended by the failure of another medium: the next endpoint may need this medium without that one.
      if (medium.failure.name === 'client_gone') this.#fetched?.delete(wanted.url)
      return medium
    }
    const isOther = wanted.isImage && !medium.value.mimeType.startsWith('image/')
    return isOther ? refused('input_unsupported', wanted, NO_IMAGE) : medium
  }

  async #get(wanted: MediumUrl, signal: AbortSignal): Promise<Outcome<FetchedMedium>> {
    const { caller, deadlineAt } = this.#job
    const endsAt = Math.min(deadlineAt, performance.now() + FETCHED_MEDIUM_MS)
    const opened = await openOutside(wanted.url, {
      egress: this.#egress,
      workspaceId: caller.workspaceId,
      beginsBy: endsAt,
      signal,
      signalEnds: 'response',
    })
    if (!opened.ok) return failed(opened.failure, wanted)
    const { status, body } = opened.value
    const room = this.#egress.room(caller, true)
    this.#rooms.push(room)
    // Also ends the wait for room.
    const end = (): void => room.give()
    signal.addEventListener('abort', end)
    const read =
      status === OK
        ? await readOutside(opened.value, { endsAt, bytesMax: FETCHED_MEDIUM_BYTES_MAX, room })
        : refused('media_unavailable', wanted, {
            ...UNFETCHED,
            message: `names a host that returned ${status}`,
          })
    signal.removeEventListener('abort', end)
    body.close()
    const medium = signal.aborted
      ? failed(endedBy(signal), wanted)
      : read.ok
        ? this.#fetchedOf(read.value, wanted)
        : failed(read.failure, wanted)
    // Without the medium the call may continue for minutes at an endpoint that accepts addresses.
    if (!medium.ok) room.give()
    return medium
  }

  #fetchedOf(pieces: readonly Buffer[], wanted: MediumUrl): Outcome<FetchedMedium> {
    const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
    if (base64Bytes(this.#bytes + sizeBytes) > INFERENCE_BODY_BYTES_MAX)
      return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX }, detail: WITH_FILES })
    const mimeType = mediumTypeOf(headOf(pieces))
    if (mimeType === null) return refused('input_unsupported', wanted, NO_MEDIUM)
    this.#bytes += sizeBytes
    const open: FetchedMedium['open'] = () =>
      Promise.resolve(ok({ read: () => Promise.resolve(ok(readerOf(pieces))), close: () => undefined }))
    return ok({ url: wanted.url, mimeType, filename: nameIn(wanted.url), sizeBytes, open })
  }
}

const OK = 200
/** OpenAI accepts no file content without a name. */
const FILENAME = 'file'

const ONE_TOO_MANY = {
  message: 'exceeds the number of URLs allowed',
  expected: `at most ${FETCHED_MEDIA_MAX} URLs`,
}
const UNFETCHED = {
  message: 'refers to a URL that could not be fetched',
  expected: 'a public HTTPS URL, or the content itself',
}
const TOO_LARGE = {
  message: 'refers to a file that is too large',
  expected: `at most ${FETCHED_MEDIUM_BYTES_MAX} bytes`,
}
const NO_MEDIUM = {
  message: 'refers to content of an unsupported type',
  expected: 'a PNG, JPEG, GIF or WebP image, PDF, or MP3 or WAV audio',
}
const NO_IMAGE = { message: 'does not refer to an image', expected: 'a PNG, JPEG, GIF or WebP image' }

/** The address itself is not shown: it may contain a secret. */
function failed({ name, ...failure }: Failure, wanted: MediumUrl): Outcome<never> {
  switch (name) {
    case 'media_unavailable':
    case 'busy':
    case 'client_gone':
    case 'draining':
    case 'deadline_exceeded':
      return { ok: false, failure: { name, ...failure } }
    case 'upstream_too_large':
      return refused('input_unsupported', wanted, TOO_LARGE)
    case 'upstream_slow':
      return refused('media_unavailable', wanted, { ...UNFETCHED, message: 'names a host that was too slow' })
    case 'destination_refused':
      return refused('media_unavailable', wanted, {
        ...UNFETCHED,
        message: 'refers to a URL that is not allowed',
      })
    default:
      return refused('media_unavailable', wanted, UNFETCHED)
  }
}

function refused(
  name: 'media_unavailable' | 'input_unsupported',
  { path }: MediumUrl,
  issue: { readonly message: string; readonly expected: string },
): Outcome<never> {
  return fail(name, { metadata: { issues: [{ path, ...issue }] } })
}

function headOf(pieces: readonly Buffer[]): Buffer {
  const head: Buffer[] = []
  let bytes = 0
  for (const piece of pieces) {
    if (bytes >= MEDIUM_HEAD_BYTES) break
    head.push(piece.subarray(0, MEDIUM_HEAD_BYTES - bytes))
    bytes += piece.length
  }
  return Buffer.concat(head)
}

function readerOf(pieces: readonly Buffer[]): ByteReader {
  let at = 0
  return { next: () => Promise.resolve(ok(pieces[at++] ?? null)), close: () => undefined }
}

/** The last part of the path, if it is a plain name. Later parts of the URL may contain a secret. */
function nameIn(url: string): string {
  return /\/([\w.-]{1,128})$/.exec(new URL(url).pathname)?.[1] ?? FILENAME
}

/** Number of first bytes from which the type of a medium is determined: readers of PDF search its mark in as many. */
export const MEDIUM_HEAD_BYTES = 1_024

/**
 * The type of a medium by its first bytes, since the type that its host reports may be wrong. Null: it is neither a
 * picture, a PDF, an MP3 nor a WAV.
 */
export function mediumTypeOf(head: Buffer): string | null {
  const image = imageTypeOf(head)
  if (image !== null) return image
  const text = head.toString('latin1')
  if (text.startsWith('RIFF') && text.startsWith('WAVE', 8)) return 'audio/wav'
  if (text.startsWith('ID3') || isMp3Frame(head)) return 'audio/mpeg'
  return text.includes('%PDF-') ? 'application/pdf' : null
}

/** The head of a frame: eleven set bits, a version and a layer. */
function isMp3Frame([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0
}
