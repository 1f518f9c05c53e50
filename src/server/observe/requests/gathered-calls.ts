import { randomBytes } from 'node:crypto'
import { getSystemErrorMap } from 'node:util'
import {
  FIGURE,
  FIGURES,
  FLAG,
  UNKNOWN,
  type Reason,
  type RequestBatch,
} from '../../../schemas/requests/request-record.ts'
import { NANO_PER_USD } from '../../../schemas/money/costs.ts'
import { FAILURES } from '../../../schemas/failures.ts'
import type { CallNotes, CallSettled } from '../../ports/observe.ts'
import type { LoggedAttempt } from '../../ports/requests/request-log.ts'

/** Calls that a front gathers before it writes them to the spill; it has room for twice as many. Decision. */
export const REQUESTS_GATHERED_MAX = 2_048
/** Bytes of the texts of a batch (ids, names, failed attempts) above which it accepts no further call. Decision. */
export const REQUESTS_TEXT_BYTES_MAX = 512 * 1024
/** Distinct failure reasons that a batch keeps for an organization; later ones are left out. Decision. */
export const REQUESTS_REASONS_MAX = 32

/** Bits that an id has fewer than 64, so that it has at most 18 digits. */
const SPARE_BITS = 5n
/** Bytes that a text takes in a batch in addition to its characters: two quotes and a comma. */
const AROUND_TEXT = 3
/** Bytes of the two numbers of a reason in a batch, at most. */
const REASON_BYTES = 12

/**
 * Finished calls as numbers, in memory that is allocated at the start: a call allocates no object. The texts
 * are kept as references to strings that exist anyway.
 */
export class GatheredCalls {
  readonly #figures = new Float64Array(REQUESTS_GATHERED_MAX * FIGURES)
  readonly #requestIds: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #lastTexts = new Array<string | undefined>(FIGURES).fill(undefined)
  readonly #lastNumbers: number[] = new Array<number>(FIGURES).fill(0)
  readonly #failed: string[] = []
  readonly #reasons: Reason[] = []
  /** Numbers of the reasons in `#failed`: many calls fail for the same reason. */
  readonly #reasonNumbers = new Map<string, number>()
  /** Number of reasons that each organization was the first to cause. */
  readonly #reasonsOf = new Map<string | null, number>()
  #count = 0
  /** Bytes of all texts as written to a file. */
  #textBytes = 0

  get count(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#count === REQUESTS_GATHERED_MAX || this.#textBytes >= REQUESTS_TEXT_BYTES_MAX
  }

  get isHalfFull(): boolean {
    return this.#count * 2 >= REQUESTS_GATHERED_MAX || this.#textBytes * 2 >= REQUESTS_TEXT_BYTES_MAX
  }

  /** Number of calls of an organization, counted on demand. */
  callsOf(organizationId: string | null): number {
    const number = organizationId === null ? 0 : this.#numbers.get(organizationId)
    let calls = 0
    for (let n = 0; n < this.#count; n++)
      if (this.#figures[n * FIGURES + FIGURE.organization] === number) calls++
    return calls
  }

  /**
   * @param endedMs Unix milliseconds
   * @param weight calls that this one stands for
   * @param model its model, or the name to record instead
   */
  add(call: CallSettled, endedMs: number, weight: number, model = call.notes.model): void {
    const { notes } = call
    const to = this.#figures
    const at = this.#count++ * FIGURES
    this.#requestIds.push(call.requestId)
    this.#textBytes += call.requestId.length + AROUND_TEXT
    to[at + FIGURE.endedMs] = endedMs
    to[at + FIGURE.durationMs] = call.durationMs
    to[at + FIGURE.authMs] = notes.authMs ?? UNKNOWN
    to[at + FIGURE.limitsMs] = notes.limitsMs ?? UNKNOWN
    to[at + FIGURE.validateMs] = notes.validateMs ?? UNKNOWN
    to[at + FIGURE.holdMs] = notes.holdMs ?? UNKNOWN
    to[at + FIGURE.upstreamMs] = notes.upstreamMs ?? UNKNOWN
    to[at + FIGURE.firstMs] = notes.ttftMs ?? UNKNOWN
    to[at + FIGURE.status] = call.status
    to[at + FIGURE.inputTokens] = notes.promptTokens ?? UNKNOWN
    to[at + FIGURE.outputTokens] = notes.outputTokens ?? UNKNOWN
    to[at + FIGURE.cachedTokens] = notes.cachedTokens ?? UNKNOWN
    to[at + FIGURE.costNano] =
      notes.costUsd === undefined ? UNKNOWN : Math.round(notes.costUsd * NANO_PER_USD)
    to[at + FIGURE.paidMs] = notes.paidMs ?? UNKNOWN
    to[at + FIGURE.requestBytes] = call.requestBytes ?? UNKNOWN
    to[at + FIGURE.replyBytes] = call.replyBytes ?? UNKNOWN
    to[at + FIGURE.attempts] = attemptsOf(notes)
    to[at + FIGURE.weight] = weight
    to[at + FIGURE.flags] = flagsOf(call)
    to[at + FIGURE.organization] = this.#numberOf(FIGURE.organization, call.organizationId)
    to[at + FIGURE.workspace] = this.#numberOf(FIGURE.workspace, call.workspaceId)
    to[at + FIGURE.key] = this.#numberOf(FIGURE.key, call.keyHash)
    to[at + FIGURE.operation] = this.#numberOf(FIGURE.operation, call.operation)
    to[at + FIGURE.model] = this.#numberOf(FIGURE.model, model)
    to[at + FIGURE.provider] = this.#numberOf(
      FIGURE.provider,
      notes.provider ?? notes.failedAttempts?.at(-1)?.provider,
    )
    to[at + FIGURE.error] = this.#numberOf(FIGURE.error, call.failure)
    to[at + FIGURE.limit] = this.#numberOf(FIGURE.limit, call.limit)
    const reason = call.reason?.() ?? null
    if (reason !== null) this.#addReason(JSON.stringify(reason), call.organizationId)
    to[at + FIGURE.failed] = notes.failedAttempts === undefined ? 0 : this.#failedOf(notes, call.startedAt)
  }

  /** The calls added since the previous `take`; the numbers are valid until the next call is added. */
  take(): RequestBatch {
    const batch = {
      id: String(randomBytes(8).readBigUInt64BE() >> SPARE_BITS),
      requestIds: this.#requestIds.splice(0),
      names: [...this.#numbers.keys()],
      failed: this.#failed.splice(0),
      reasons: this.#reasons.splice(0),
      figures: this.#figures.subarray(0, this.#count * FIGURES),
    }
    this.#numbers.clear()
    this.#reasonNumbers.clear()
    this.#reasonsOf.clear()
    this.#lastTexts.fill(undefined)
    this.#count = 0
    this.#textBytes = 0
    return batch
  }

  /** Most calls have the texts of the call before: so that text is compared before any lookup. */
  #numberOf(figure: number, text: string | null | undefined): number {
    if (text === null || text === undefined) return 0
    if (text === this.#lastTexts[figure]) return this.#lastNumbers[figure] ?? 0
    const number = this.#numbers.get(text) ?? this.#added(text)
    this.#lastTexts[figure] = text
    this.#lastNumbers[figure] = number
    return number
  }

  #added(text: string): number {
    const number = this.#numbers.size + 1
    this.#numbers.set(text, number)
    this.#textBytes += text.length + AROUND_TEXT
    return number
  }

  #failedOf({ failedAttempts = [], attemptTimes = [] }: CallNotes, startedAt: number): number {
    const attempts = failedAttempts.map(({ provider, status, code }, nth): LoggedAttempt => {
      const [from = startedAt, durationMs = 0] = attemptTimes.slice(2 * nth)
      return {
        provider,
        status,
        code: knownCode(code),
        atMs: tenth(from - startedAt),
        durationMs: tenth(durationMs),
      }
    })
    return this.#addedJson(JSON.stringify(attempts))
  }

  /** Callers can cause a different reason in each call: reasons beyond the bound are left out. */
  #addReason(text: string, organizationId: string | null): void {
    let number = this.#reasonNumbers.get(text)
    if (number === undefined) {
      const reasons = this.#reasonsOf.get(organizationId) ?? 0
      if (reasons === REQUESTS_REASONS_MAX) return
      this.#reasonsOf.set(organizationId, reasons + 1)
      number = this.#addedJson(text)
      this.#reasonNumbers.set(text, number)
    }
    this.#reasons.push([this.#count - 1, number])
    this.#textBytes += REASON_BYTES
  }

  #addedJson(text: string): number {
    this.#textBytes += JSON.stringify(text).length + 1
    return this.#failed.push(text)
  }
}

function attemptsOf({ attempts, failedAttempts }: CallNotes): number {
  return attempts ?? failedAttempts?.length ?? 0
}

function flagsOf({ notes, isClientGone, limits }: CallSettled): number {
  let flags = isClientGone ? FLAG.clientGone : 0
  if (notes.isByok === true) flags |= FLAG.byok
  if (notes.isEstimated === true) flags |= FLAG.estimated
  if (notes.isUnpriced === true) flags |= FLAG.unpriced
  if (limits === null || notes.costUsd === undefined) return flags
  if (limits.isCreditLimited) flags |= FLAG.creditLimited
  if (limits.isWorkspaceLimited) flags |= FLAG.workspaceLimited
  if (limits.isKeyLimited) flags |= FLAG.keyLimited
  return flags
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10
}

/** Codes of the HTTP client, of its parser and of TLS for failed connections. */
const OF_CONNECTIONS = [
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HPE_HEADER_OVERFLOW',
  'HPE_INVALID_CONSTANT',
  'HPE_INVALID_CONTENT_LENGTH',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_ABORTED',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_SOCKET',
]

/** Codes of errors that OpenAI and providers that copy its API, Anthropic, Google, Azure and DashScope document. */
const OF_PROVIDERS = [
  'api_error',
  'authentication_error',
  'billing_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'context_window_exceeded',
  'data_inspection_failed',
  'engine_overloaded',
  'exceed_context_size_error',
  'insufficient_quota',
  'internal_error',
  'internal_server_error',
  'invalid_api_key',
  'invalid_prompt',
  'invalid_request',
  'invalid_request_error',
  'model_context_window_exceeded',
  'model_not_available',
  'model_not_found',
  'moderation_blocked',
  'not_found',
  'not_found_error',
  'overloaded',
  'overloaded_error',
  'permission_denied',
  'permission_error',
  'quota_exceeded',
  'rate_limit_error',
  'rate_limit_exceeded',
  'request_too_large',
  'server_error',
  'service_unavailable',
  'string_above_max_length',
  'timeout_error',
  'too_many_requests',
  'unsupported_country_region_territory',
  'unsupported_parameter',
  'unsupported_value',
  'ABORTED',
  'ALREADY_EXISTS',
  'API_KEY_EXPIRED',
  'API_KEY_INVALID',
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'FAILED_PRECONDITION',
  'INTERNAL',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'OUT_OF_RANGE',
  'PERMISSION_DENIED',
  'RATE_LIMIT_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'UNAUTHENTICATED',
  'UNAVAILABLE',
  'UNIMPLEMENTED',
]

const OF_THE_SYSTEM = Array.from(getSystemErrorMap().values(), ([name]) => name)

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(FAILURES),
  ...OF_THE_SYSTEM,
  ...OF_CONNECTIONS,
  ...OF_PROVIDERS,
])

/**
 * The code of a failed attempt as the log keeps it. A provider's code may be any text, even a key or a word of
 * the prompt: only known codes are kept.
 */
function knownCode(code: string): string {
  return KNOWN.has(code) ? code : 'other'
}
