import type { Failure } from '../../../schemas/failures.ts'
import { VIDEO_RETRY_AFTER_MS_MAX } from '../../../schemas/videos/video-limits.ts'
import {
  VIDEO_CREDENTIAL_RETRY_MS,
  VIDEO_UNSENT_RETRY_MS,
} from '../../../schemas/videos/video-provider-limits.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { Submitted, VideoOrder } from '../../ports/videos/video-providers.ts'
import { readReason } from '../reason.ts'
import { reasonOf, jobError } from './job-errors.ts'
import { objectIn, type Posted, type VideoLink } from './video-link.ts'

/** Statuses that mean for certain that no job was begun and that the same request would be refused again. */
const REFUSED: ReadonlySet<number> = new Set([
  400, 404, 405, 406, 410, 411, 413, 414, 415, 417, 421, 422, 431, 451,
])
/** Statuses about the credential or the payment: some providers answer a bad token with 498. */
const CREDENTIAL: ReadonlySet<number> = new Set([401, 402, 403, 407, 498])
/** Statuses that mean that no job was begun and that a later try may succeed. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 409, 425, 429, 529])
/** This status means the same only with a `Retry-After`: a proxy also answers 503 when its own connection to the server broke. */
const UNAVAILABLE = 503

export interface SubmissionInput {
  readonly link: VideoLink
  readonly order: VideoOrder
  /** Id of the job in the body of a success; null when the body has none. */
  readonly idOf: (body: Readonly<Record<string, unknown>>) => string | null
}

/**
 * The core of "at most once": every uncertain outcome is `unknown`, which means that the request was sent and no
 * response shows whether a job was begun.
 */
export function submittedBy({ answer, isWritten }: Posted, input: SubmissionInput): Submitted {
  const { name } = input.link.provider
  if (!answer.ok) return isWritten ? unknown(name, answer.failure) : unsent(name, answer.failure)
  if (!answer.value.isSuccess) return refusedBy(answer.value, input)
  const body = objectIn(answer.value)
  const upstreamId = body === null ? null : input.idOf(body)
  if (upstreamId !== null) return { kind: 'taken', upstreamId }
  return {
    kind: 'unknown',
    error: jobError('provider_outcome_unknown', `${name} returned no job id.`),
  }
}

function refusedBy(answer: EgressAnswer, { link, order }: SubmissionInput): Submitted {
  const {
    provider: { name },
    redacted,
    isOwnKey,
  } = link
  const { status, body } = answer
  const { isCredential } = readReason(body, redacted)
  const reason = reasonOf(body, { redacted, order })
  answer.release()
  const words = `${name} answered ${status}${reason === null ? '.' : `: ${reason}`}`
  if (isCredential || CREDENTIAL.has(status)) return credentialRefused(name, status, isOwnKey)
  if (REFUSED.has(status)) return { kind: 'refused', error: jobError('provider_refused', words) }
  if (NOT_NOW.has(status) || (status === UNAVAILABLE && answer.retryAfter !== null)) {
    const retryInMs = retryMsOf(answer.retryAfter) ?? VIDEO_UNSENT_RETRY_MS
    return {
      kind: 'unsent',
      retryInMs,
      error: jobError('provider_unavailable', `${name} answered ${status}.`),
    }
  }
  return { kind: 'unknown', error: jobError('provider_outcome_unknown', `${name} answered ${status}.`) }
}

/**
 * The outcome of a refused credential. Only the workspace can replace its key, so the job fails with a message; the
 * operator replaces the operator's key, and jobs wait for that.
 */
function credentialRefused(name: string, status: number, isOwnKey: boolean): Submitted {
  if (isOwnKey)
    return {
      kind: 'refused',
      error: jobError('provider_key_refused', `${name} answered ${status} to the key of this workspace.`),
    }
  const error = jobError('provider_unavailable', `${name} refused the credential of this installation.`)
  return { kind: 'unsent', retryInMs: VIDEO_CREDENTIAL_RETRY_MS, error }
}

function unsent(name: string, failure: Failure): Submitted {
  return {
    kind: 'unsent',
    retryInMs: VIDEO_UNSENT_RETRY_MS,
    error: jobError('provider_unavailable', `${name} ${unsentWords(failure)}`),
  }
}

function unsentWords(failure: Failure): string {
  switch (failure.name) {
    case 'busy':
      return 'already has the maximum number of calls from Sluice.'
    case 'upstream_slow':
      return 'did not accept the request in time.'
    case 'client_gone':
    case 'draining':
    case 'deadline_exceeded':
      return 'was not called, because the job was cancelled.'
    default:
      return `could not be reached.${brokenBy(failure)}`
  }
}

function unknown(name: string, failure: Failure): Submitted {
  const words =
    failure.name === 'upstream_slow' ? 'did not answer in time.' : `broke off.${brokenBy(failure)}`
  return { kind: 'unknown', error: jobError('provider_outcome_unknown', `${name} ${words}`) }
}

/** How the connection failed, as a sentence to append; empty when nothing more is known. */
export function brokenBy({ fields, detail }: Failure): string {
  const kind = fields?.['connection']
  return kind === undefined || kind === 'unreached' || detail === undefined ? '' : ` ${detail}`
}

/** Milliseconds of a `Retry-After` in seconds, bounded; null if absent. */
export function retryMsOf(retryAfter: string | null): number | null {
  if (retryAfter === null || !/^\d{1,9}$/.test(retryAfter)) return null
  return Math.min(Math.max(1, Number(retryAfter)) * 1_000, VIDEO_RETRY_AFTER_MS_MAX)
}
