import type { PAGE_TOKEN_HEADER } from '../../../schemas/api-prefix.ts'
import type { ErrorEnvelope } from '../../../schemas/envelope.ts'

/** Milliseconds for an answer that is not a stream: above the deadline of every operation that the page calls. */
const ANSWER_MS_MAX = 30_000
const UNAUTHENTICATED = 401
const TOKEN_HEADER: typeof PAGE_TOKEN_HEADER = 'x-sluice-page-token'
/** Error code for a session that has ended. */
const ENDED = 'session_ended'
/** Other error codes after which the key can no longer be used here. */
const KEY_GONE: readonly string[] = ['key_disabled', 'operator_only']

export class ApiError extends Error {
  readonly status: number
  /** Code of the failure catalogue; `unreachable` when there was no answer. */
  readonly type: string
  /** The fields at fault: `/limit_usd` and a sentence each. */
  readonly issues: readonly { readonly path: string; readonly message: string; readonly expected: string }[]

  constructor(
    message: string,
    {
      status = 0,
      type = 'unreachable',
      issues = [],
    }: Partial<Pick<ApiError, 'status' | 'type' | 'issues'>> = {},
  ) {
    super(message)
    this.status = status
    this.type = type
    this.issues = issues
  }

  /** The sentence about a field of the submitted form; undefined: the error is not about it. */
  about(field: string): string | undefined {
    const found = this.issues.find(({ path }) => path === `/${field}` || path.startsWith(`/${field}/`))
    return found === undefined ? undefined : `${found.message}: ${found.expected}`
  }
}

/** Names and values; null, undefined and empty values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>
export interface SendOptions {
  /** Key with which a call repeated after a lost answer is executed only once. */
  readonly idempotencyKey?: string
  readonly query?: Query
}

/** Path below `/api/v1`, one text for each segment: `['keys', hash]`. Each is encoded. */
export type Path = readonly string[]

/**
 * All requests of the page. Rejects with an `ApiError`, or with the signal's reason when the caller aborted.
 * The types of answers are those of Sluice's operations, which contract tests check against their shapes.
 */
export interface Api {
  get<T>(path: Path, query?: Query, signal?: AbortSignal): Promise<T>
  send<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: Path,
    body?: unknown,
    more?: SendOptions,
  ): Promise<T>
  /** Opens a stream or a download, without a time limit of its own. */
  open(path: Path, query: Query, signal: AbortSignal): Promise<Response>
}

/**
 * @param pageToken the page's half of its session; the browser adds the other half
 * @param onRefused called when the session has ended, or its key can no longer be used here
 */
export function createApi(pageToken: string, onRefused: (message: string) => void): Api {
  const call = async (
    path: Path,
    query: Query,
    init: RequestInit & { readonly signal: AbortSignal },
  ): Promise<Response> => {
    const url = new URL(path.map(encodeURIComponent).join('/'), new URL('api/v1/', document.baseURI))
    for (const [name, value] of Object.entries(query))
      if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, String(value))
    const response = await reach(url, { ...init, headers: { ...init.headers, [TOKEN_HEADER]: pageToken } })
    if (response.ok) return response
    const error = await errorOf(response)
    if (error.status === UNAUTHENTICATED || KEY_GONE.includes(error.type)) onRefused(error.message)
    throw error
  }
  return {
    get: async <T>(path: Path, query: Query = {}, wanted?: AbortSignal) => {
      const signal = within(wanted)
      return (await inWords((await call(path, query, { signal })).json(), signal)) as T
    },
    send: async <T>(
      method: string,
      path: Path,
      body?: unknown,
      { idempotencyKey, query = {} }: SendOptions = {},
    ) => {
      const typed = body === undefined ? {} : { 'content-type': 'application/json' }
      const headers = idempotencyKey === undefined ? typed : { ...typed, 'idempotency-key': idempotencyKey }
      const signal = within()
      const sent = { method, headers, signal, body: body === undefined ? null : JSON.stringify(body) }
      const text = await inWords((await call(path, query, sent)).text(), signal)
      return (text === '' ? null : JSON.parse(text)) as T
    },
    open: (path, query, signal) => call(path, query, { signal }),
  }
}

/**
 * Exchanges a key for a session: the browser keeps the cookie, and the page keeps the returned token.
 * @param before token of the session that the new one replaces
 */
export async function beginSession(key: string, before: string | null): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, [TOKEN_HEADER]: before ?? '' }
  const { data } = (await askSession('POST', headers)) as { data: { page_token: string } }
  return data.page_token
}

/** Ends the session on the node, for all windows that use it. Rejects when the session may still be open there. */
export async function endSession(pageToken: string): Promise<void> {
  try {
    await askSession('DELETE', { [TOKEN_HEADER]: pageToken })
  } catch (problem) {
    if (!(problem instanceof ApiError && problem.type === ENDED)) throw problem
  }
}

async function askSession(method: 'POST' | 'DELETE', headers: Record<string, string>): Promise<unknown> {
  const signal = within()
  const response = await reach(new URL('session', document.baseURI), { method, headers, signal })
  if (!response.ok) throw await errorOf(response)
  return inWords(response.json(), signal)
}

/** The error in one sentence. */
export function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem)
}

function reach(url: URL, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  return inWords(fetch(url, { ...OURS, ...init }), init.signal)
}

/** Some browsers send no Origin header without a referrer, and the node refuses changes without an origin. */
const OURS: RequestInit = {
  cache: 'no-store',
  credentials: 'same-origin',
  redirect: 'error',
  referrerPolicy: 'same-origin',
}

/** Turns network errors into an ApiError. It also wraps the reading of the body: an answer may break off or time out after its head. */
async function inWords<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await answer
  } catch (problem) {
    if (problem instanceof SyntaxError || (signal.aborted && !isTimeout(signal.reason))) throw problem
    throw new ApiError(
      isTimeout(problem) ? 'The node did not answer in time.' : 'The node cannot be reached.',
    )
  }
}

function within(signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ANSWER_MS_MAX)
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout])
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}

async function errorOf(response: Response): Promise<ApiError> {
  const { status } = response
  // A proxy in between may send another body.
  const body: Partial<ErrorEnvelope> = await response.json().catch(() => ({}))
  if (body.error === undefined)
    return new ApiError(`The node returned ${status}.`, { status, type: 'unknown' })
  const { message, metadata } = body.error
  return new ApiError(message, {
    status,
    type: metadata?.error_type ?? 'unknown',
    issues: metadata?.issues ?? [],
  })
}
