import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { setTimeout as sleepFor } from 'node:timers/promises'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { Secret } from '../../schemas/vault/secret.ts'

export interface S3Options {
  readonly bucket: string
  /** Prefix of every key: empty, or ending in a slash. */
  readonly prefix: string
  readonly region: string
  /** Null: Amazon's endpoint for the region. */
  readonly endpoint: string | null
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  /** True: the bucket is part of the path; most servers other than Amazon's need this. */
  readonly isPathStyle: boolean
  /** Many S3-compatible servers do not support the checksums that the client adds by default. */
  readonly checksums: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED'
  /** The folder of this machine to which uploads are written before they are published. */
  readonly stagingFolder: string
  /** The process whose uploads are staged in the folder. */
  readonly owner?: string | undefined
  /** Milliseconds until connected. */
  readonly connectMs?: number
  /** Milliseconds without progress after which an attempt ends. */
  readonly stallMs?: number
  /** Milliseconds before the first repetition of a failed call; each further wait is twice as long. */
  readonly backoffMs?: number
}

/** Attempts of one call, including the first. Decision. */
const TRIES_MAX = 4
/** Milliseconds until connected. Decision. */
const CONNECT_MS = 3_000
/** Milliseconds without progress. Decision. */
const STALL_MS = 15_000
/** Milliseconds before the first repetition. Decision. */
const BACKOFF_MS = 100
/** Sockets of one process to the bucket's server. Decision. */
const SOCKETS_MAX = 256

/** Reports progress of the call; an attempt without progress for the stall time is aborted. */
export type Progress = () => void
/** One attempt of a call. */
export type Try<T> = (signal: AbortSignal, progress: Progress) => Promise<T>

/** Without a logger the client would write to the console, between the log lines. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** The client with Sluice's own timeouts and retries, because only Sluice can read a staging file again. */
export class S3Calls {
  readonly client: S3Client
  readonly bucket: string
  readonly prefix: string
  readonly stallMs: number
  readonly #backoffMs: number

  constructor(options: S3Options) {
    this.bucket = options.bucket
    this.prefix = options.prefix
    this.stallMs = options.stallMs ?? STALL_MS
    this.#backoffMs = options.backoffMs ?? BACKOFF_MS
    this.client = new S3Client({
      region: options.region,
      ...(options.endpoint === null ? {} : { endpoint: options.endpoint }),
      credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey.reveal() },
      forcePathStyle: options.isPathStyle,
      requestChecksumCalculation: options.checksums,
      responseChecksumValidation: options.checksums,
      maxAttempts: 1,
      logger: SILENT,
      // If these settings were missing, the client would look for them in the environment and in files of the
      // home directory.
      retryMode: 'standard',
      defaultsMode: 'standard',
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      useArnRegion: false,
      disableMultiregionAccessPoints: true,
      disableS3ExpressSessionAuth: true,
      userAgentAppId: 'sluice',
      requestHandler: {
        connectionTimeout: options.connectMs ?? CONNECT_MS,
        // A slow reader may pause the socket for any length of time, so Sluice detects stalls itself.
        socketTimeout: 0,
        requestTimeout: 0,
        socketAcquisitionWarningTimeout: 60_000,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
      },
    })
  }

  /**
   * Runs a call, and repeats it when the server or the connection failed. Failures: the `refusals`,
   * storage_full, storage_unavailable, and the failure of the signal.
   * @param refusals failures for certain error names, instead of `storage_unavailable`
   */
  async run<T>(
    attempt: Try<T>,
    signal?: AbortSignal,
    refusals: Readonly<Record<string, Failure['name']>> = {},
  ): Promise<Outcome<T>> {
    for (let nth = 1; ; nth++) {
      if (isGone(signal)) return gone(signal)
      try {
        return ok(await this.#once(attempt, signal))
      } catch (cause) {
        if (isGone(signal)) return gone(signal)
        const refusal = refusals[nameOf(cause)]
        if (refusal !== undefined) return fail(refusal, { cause })
        if (nth === TRIES_MAX || !mayRepeat(cause)) return { ok: false, failure: s3Failure(cause) }
      }
      await this.pause(nth, signal)
    }
  }

  /** Waits before retry `nth`, or until the signal is aborted. */
  async pause(nth: number, signal?: AbortSignal): Promise<void> {
    await sleepFor(this.#backoffMs * 2 ** (nth - 1), undefined, signal === undefined ? {} : { signal }).catch(
      () => undefined,
    )
  }

  async #once<T>(attempt: Try<T>, signal: AbortSignal | undefined): Promise<T> {
    const ending = new AbortController()
    const end = (): void => ending.abort()
    const timer = setTimeout(end, this.stallMs)
    signal?.addEventListener('abort', end, { once: true })
    try {
      return await attempt(ending.signal, () => void timer.refresh())
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }
}

const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'StorageFull'])
/** Temporary conflicts among 4xx answers. */
const PASSING = new Set([
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
  'SlowDown',
  'TooManyRequests',
])

export function s3Failure(cause: unknown): Failure {
  const isFull = FULL.has(nameOf(cause)) || codeOf(cause) === 'ENOSPC'
  return { name: isFull ? 'storage_full' : 'storage_unavailable', retryAfterS: 1, cause }
}

export function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : ''
}

/** Repeats after server errors, timeouts and connection errors; not after refusals. */
function mayRepeat(cause: unknown): boolean {
  if (!(cause instanceof S3ServiceException)) return true
  return (
    PASSING.has(cause.name) ||
    cause.$fault === 'server' ||
    (cause.$metadata.httpStatusCode ?? 0) >= SERVER_FAULT
  )
}

/** First status of server errors. */
const SERVER_FAULT = 500

function isGone(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

function gone(signal: AbortSignal | undefined): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: signal === undefined ? { name: 'client_gone' } : endedBy(signal) }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
