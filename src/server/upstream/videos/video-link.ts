import type { Outcome } from '../../../schemas/failures.ts'
import { objectOf } from '../../../schemas/values/members.ts'
import {
  VIDEO_DOWNLOAD_BEGIN_MS,
  VIDEO_DOWNLOAD_STALL_MS,
} from '../../../schemas/videos/video-provider-limits.ts'
import type {
  Egress,
  EgressAnswer,
  EgressRequest,
  EgressStream,
  TrustedOrigin,
} from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { VideoCallTimes } from '../../ports/videos/video-providers.ts'
import type { CredentialHeader } from '../credential.ts'
import type { ExtraHeaders } from '../provider-headers.ts'
import type { RedactedTexts } from '../reason.ts'
import { MIB } from '../../../schemas/limits/limits.ts'

/** Bytes of a provider's answer about its jobs. Decision. */
export const VIDEO_ANSWER_BYTES_MAX = MIB

export interface VideoLinkDeps {
  readonly egress: Pick<Egress, 'trusted'>
  /** Null when the provider needs none. */
  readonly key: string | null
  readonly isOwnKey: boolean
  readonly credentialHeader: CredentialHeader
  /** Headers that the catalogue has for this provider. */
  readonly extra: ExtraHeaders
}

export interface VideoPost {
  readonly path: string
  readonly contentType: string
  readonly body: string | readonly Uint8Array[]
  /** Headers in addition to those of every call. */
  readonly headers?: readonly string[]
  /** True when the provider recognizes a second sending by its token. */
  readonly mayRepeat: boolean
}

/** The outcome of a request that must not be sent twice unnoticed. */
export interface Posted {
  readonly answer: Outcome<EgressAnswer>
  /** False when no byte of the request was sent. */
  readonly isWritten: boolean
}

/** The connection to the videos of one provider with one key. Only the headers contain the key. */
export class VideoLink {
  readonly provider: Provider
  /** Scheme, host and port, as a URL's `origin`. */
  readonly origin: string
  readonly isOwnKey: boolean
  readonly redacted: RedactedTexts
  readonly #origin: TrustedOrigin
  readonly #basePath: string
  readonly #headers: readonly string[]

  constructor(provider: Provider, { egress, key, isOwnKey, credentialHeader, extra }: VideoLinkDeps) {
    const base = new URL(provider.baseUrl)
    this.provider = provider
    this.origin = base.origin
    this.isOwnKey = isOwnKey
    this.redacted = { credential: key ?? '', others: extra.secrets, host: base.hostname }
    this.#origin = egress.trusted(base.origin)
    this.#basePath = base.pathname.replace(/\/+$/, '')
    this.#headers = [
      'accept-encoding',
      'identity',
      'user-agent',
      'sluice',
      ...(key === null ? [] : credentialHeader(key)),
      ...extra.sent,
    ]
  }

  /**
   * Sends a request once, and only while this process holds the job. The link waits for the response even when the call
   * ends: the response may contain the job's id.
   */
  async post(
    { path, contentType, body, headers = [], mayRepeat }: VideoPost,
    times: VideoCallTimes,
  ): Promise<Posted> {
    let isWritten = false
    const answer = await this.#origin.call({
      ...this.#requestOf('POST', path, times),
      headers: [...this.#headers, 'accept', 'application/json', 'content-type', contentType, ...headers],
      body,
      mayCutSent: false,
      mayRepeat,
      mayWrite: () => {
        const may = !times.signal.aborted && times.mayWrite()
        isWritten ||= may
        return may
      },
    })
    return { answer, isWritten }
  }

  get(
    path: string,
    times: VideoCallTimes,
    answerBytesMax = VIDEO_ANSWER_BYTES_MAX,
  ): Promise<Outcome<EgressAnswer>> {
    return this.#origin.call({ ...this.#requestOf('GET', path, times), answerBytesMax })
  }

  remove(path: string, times: VideoCallTimes): Promise<Outcome<EgressAnswer>> {
    return this.#origin.call({ ...this.#requestOf('DELETE', path, times), mayCutSent: false })
  }

  /** The address of a path below the base. */
  urlOf(path: string): URL {
    return new URL(this.origin + this.#basePath + path)
  }

  /** Begins to read an address of this origin. */
  open(url: URL, times: VideoCallTimes): Promise<Outcome<EgressStream>> {
    return this.#origin.open({
      path: url.pathname + url.search,
      headers: this.#headers,
      beginsBy: Math.min(times.endsAt, performance.now() + VIDEO_DOWNLOAD_BEGIN_MS),
      stallMs: VIDEO_DOWNLOAD_STALL_MS,
      signal: times.signal,
    })
  }

  #requestOf(method: EgressRequest['method'], path: string, times: VideoCallTimes): EgressRequest {
    return {
      method,
      path: this.#basePath + path,
      headers: [...this.#headers, 'accept', 'application/json'],
      body: null,
      attemptEndsAt: times.endsAt,
      call: { signal: times.signal },
      mayCutSent: true,
      mayRepeat: true,
      mayWrite: times.mayWrite,
      answerBytesMax: VIDEO_ANSWER_BYTES_MAX,
    }
  }
}

/** The JSON object in a response, or null; releases the response. */
export function objectIn(answer: EgressAnswer): Readonly<Record<string, unknown>> | null {
  const { buffer, byteOffset, length } = answer.body
  try {
    return objectOf(JSON.parse(Buffer.from(buffer, byteOffset, length).toString()))
  } catch {
    return null
  } finally {
    answer.release()
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}
