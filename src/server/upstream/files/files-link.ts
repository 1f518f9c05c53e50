import type { Readable } from 'node:stream'
import { ok, type Failure, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../../schemas/models/provider-limits.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress, EgressAnswer, EgressStream, TrustedOrigin } from '../../ports/egress/egress.ts'
import { failureOf, named } from '../provider-failure.ts'
import type { RedactedTexts } from '../reason.ts'
import type { FilesProtocol } from './protocol.ts'
import { MIB } from '../../../schemas/limits/limits.ts'

/** Bytes of a provider's answer about files; the answer is parsed on the event loop. Decision. */
export const PROVIDER_FILES_ANSWER_BYTES_MAX = MIB
/**
 * Milliseconds of a call about a provider's files: less than CONTROL_DEADLINE_MS, so that the failure names
 * the provider. Decision.
 */
const PROVIDER_FILES_CALL_MS = 9_000
/** Milliseconds until a provider begins a download. Decision. */
const PROVIDER_DOWNLOAD_BEGIN_MS = 20_000
/** Milliseconds that a provider may send no byte of a download, or take no byte of an upload. Decision. */
const PROVIDER_FILE_STALL_MS = 30_000
/** Milliseconds from an upload's last byte to the provider's answer. Decision. */
const PROVIDER_UPLOAD_ANSWER_MS = 60_000

const PATH = '/files'
const USUAL_HEADERS = ['accept-encoding', 'identity', 'user-agent', 'sluice']
const NOT_FOUND = 404

/** Milliseconds that the steps of a call may take; tests set shorter ones. */
export interface FilesTimes {
  readonly callMs: number
  readonly beginMs: number
  readonly stallMs: number
  readonly answerMs: number
}

export const FILES_TIMES: FilesTimes = {
  callMs: PROVIDER_FILES_CALL_MS,
  beginMs: PROVIDER_DOWNLOAD_BEGIN_MS,
  stallMs: PROVIDER_FILE_STALL_MS,
  answerMs: PROVIDER_UPLOAD_ANSWER_MS,
}

export interface LinkOptions {
  readonly egress: Egress
  readonly protocol: FilesProtocol
  readonly baseUrl: string
  readonly key: Secret
  readonly times: FilesTimes
}

export interface FormPost {
  readonly body: Readable
  readonly contentType: string
  /** `performance.now()` at which the request ends; the value changes while the request runs. */
  readonly endsAt: () => number
  /** Cuts the request. */
  readonly signal: AbortSignal
}

/** The connection to the files of one workspace at one provider. Only the headers contain the key. */
export class FilesLink {
  readonly protocol: FilesProtocol
  readonly times: FilesTimes
  readonly #redacted: RedactedTexts
  readonly #origin: TrustedOrigin
  readonly #basePath: string
  readonly #headers: readonly string[]

  constructor({ egress, protocol, baseUrl, key, times }: LinkOptions) {
    const base = new URL(baseUrl)
    const text = key.reveal()
    this.protocol = protocol
    this.times = times
    this.#redacted = { credential: text, host: base.hostname }
    this.#origin = egress.trusted(base.origin)
    this.#basePath = base.pathname.replace(/\/+$/, '') + PATH
    this.#headers = [...USUAL_HEADERS, ...protocol.headers(text)]
  }

  /**
   * Makes a call with a short response. @param path below `/files` Failures: those of the provider; `missing`
   * where the provider answers 404.
   */
  async call(
    method: 'GET' | 'DELETE',
    path: string,
    { signal, missing }: { readonly signal: AbortSignal; readonly missing: FailureName },
  ): Promise<Outcome<unknown>> {
    const answer = await this.#origin.call({
      method,
      path: this.#basePath + path,
      headers: [...this.#headers, 'accept', 'application/json'],
      body: null,
      attemptEndsAt: performance.now() + this.times.callMs,
      call: { signal },
      // Once a DELETE was sent, it is not aborted.
      mayCutSent: method === 'GET',
      mayRepeat: true,
      answerBytesMax: PROVIDER_FILES_ANSWER_BYTES_MAX,
    })
    return answer.ok ? this.read(answer.value, missing) : this.#failed(answer.failure)
  }

  /** Sends a file. Failures: those of the connection. */
  async post({ body, contentType, endsAt, signal }: FormPost): Promise<Outcome<EgressAnswer>> {
    const answer = await this.#origin.call({
      method: 'POST',
      path: this.#basePath,
      headers: [...this.#headers, 'accept', 'application/json', 'content-type', contentType],
      body,
      get attemptEndsAt() {
        return endsAt()
      },
      call: { signal },
      mayCutSent: true,
      mayRepeat: false,
      answerBytesMax: PROVIDER_FILES_ANSWER_BYTES_MAX,
    })
    return answer.ok ? answer : this.#failed(answer.failure)
  }

  /** Begins to read a file; its status is 2xx. @param range value of the header; null for the whole. Failures: as `call`. */
  async open(
    path: string,
    { range, signal }: { readonly range: string | null; readonly signal: AbortSignal },
  ): Promise<Outcome<EgressStream>> {
    const opened = await this.#origin.open({
      path: this.#basePath + path,
      headers: [...this.#headers, ...(range === null ? [] : ['range', range])],
      beginsBy: performance.now() + this.times.beginMs,
      stallMs: this.times.stallMs,
      signal,
    })
    if (!opened.ok) return this.#failed(opened.failure)
    if (opened.value.isSuccess) return opened
    const answer = await refusalOf(opened.value)
    return { ok: false, failure: this.failureOf(answer, 'file_unknown') }
  }

  /** The JSON of a response; releases the response. Failures: as `call`. */
  read(answer: EgressAnswer, missing: FailureName): Outcome<unknown> {
    try {
      if (!answer.isSuccess) return { ok: false, failure: this.failureOf(answer, missing) }
      const { buffer, byteOffset, length } = answer.body
      return ok(JSON.parse(Buffer.from(buffer, byteOffset, length).toString()))
    } catch (cause) {
      return this.invalid(cause)
    } finally {
      answer.release()
    }
  }

  /** The failure for a response other than 2xx. */
  failureOf(answer: EgressAnswer, missing: FailureName): Failure {
    return answer.status === NOT_FOUND
      ? { name: missing }
      : this.#named(failureOf(answer, { redacted: this.#redacted }))
  }

  /** The failure for a response that breaks the provider's own protocol. */
  invalid(cause: unknown): Outcome<never> {
    return this.#failed({ name: 'upstream_invalid', cause })
  }

  #failed(failure: Failure): Outcome<never> {
    return { ok: false, failure: this.#named(failure) }
  }

  #named(failure: Failure): Failure {
    if (!failure.name.startsWith('upstream_')) return failure
    return named(failure, this.protocol.name)
  }
}

/** Reads the useful part of a refusal. */
async function refusalOf({ status, header, body }: EgressStream): Promise<EgressAnswer> {
  const pieces: Uint8Array[] = []
  let sizeBytes = 0
  while (sizeBytes < UPSTREAM_ERROR_BYTES_MAX) {
    const piece = await body.next()
    if (!piece.ok || piece.value === null) break
    pieces.push(piece.value)
    sizeBytes += piece.value.length
  }
  body.close()
  const read = Buffer.concat(pieces).subarray(0, UPSTREAM_ERROR_BYTES_MAX)
  return { status, isSuccess: false, retryAfter: header('retry-after'), body: read, release: () => undefined }
}
