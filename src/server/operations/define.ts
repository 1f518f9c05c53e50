import type { Static, TSchema } from 'typebox'
import { API_PREFIX, SCIM_PREFIX } from '../../schemas/api-prefix.ts'
import type { CONVERSATION_HEADERS } from '../../schemas/inference/conversation.ts'
import type { KeyKind } from '../../schemas/keys/api-keys.ts'
import type { BODIES, BodyName } from '../../schemas/bodies.ts'
import { FAILURES, type FailureName, type Outcome } from '../../schemas/failures.ts'
import type { KeyScope } from '../../schemas/keys/permissions.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'
import type { Content, Upload } from '../ports/byte-streams.ts'
import type { IdempotencyClaim } from '../ports/idempotency.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { Ports } from '../ports/ports.ts'
import type { ChangedBy } from '../ports/vault/vault.ts'
import { defaultsOf, type Defaults } from './defaults.ts'
import type { TagName } from './tags.ts'
import type { ModelReply } from '../ports/model-calls.ts'
import type { TextCaller } from '../ports/inference/inference.ts'
import type { RelayedAnswer, RelayedRequest } from '../ports/egress/egress.ts'

/** Headers that an operation may declare as inputs, in lower case. */
export type HeaderName =
  | 'x-session-id'
  | (typeof CONVERSATION_HEADERS)[number]
  | 'range'
  | 'if-range'
  | 'if-match'
  | 'if-none-match'
  | 'anthropic-version'
  | 'anthropic-beta'
  | 'user-agent'
  | 'x-sluice-hops'
  /** Represents all headers that begin with `x-stainless-`. C8. */
  | 'x-stainless-lang'
  | 'x-sluice-substitute'

/**
 * One operation of the API, as data. Routes, validators, the OpenAPI document, rows of the bench and contract
 * tests follow from it.
 */
export interface Operation<P = unknown, Q = unknown, B = unknown> {
  /** Stable name in logs, metrics and bench rows: `embeddings.create`. */
  readonly id: string
  /** `any`: every method except CONNECT and TRACE. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'any'
  /** Path below `/api/v1` or the prefix of `area`, with `{name}` segments: `/model/{author}/{slug}`. */
  readonly path: string
  /** `scim`: the operation lies below `/scim/v2`; its bodies and errors follow RFC 7644. C2, C29. */
  readonly area?: 'scim'
  /** True: the path begins at the root, `/word/{name}/{rest}`. Its parameters stay undecoded, and the rest may be empty. C29. */
  readonly isAtRoot?: true
  /** The texts of tags are in `operations/tags.ts`; a new tag needs one. */
  readonly tag: TagName
  readonly summary: string
  /** Sentences after the summary, for operations whose inputs have rules; limits and names in it are taken from `schemas`. */
  readonly description?: string
  readonly access: OperationAccess
  readonly deadlineMs: number
  /**
   * True when begun work must finish although the client left (writes, paid calls): the call settles after the
   * work. False for reads: they are aborted by the signal, and the call settles without waiting for them.
   */
  readonly outlivesClient: boolean
  /**
   * The operation accepts an `Idempotency-Key`. `true`: the pipeline stores the JSON reply for repeats of the
   * call; an operation that creates a record needs nothing else (see `ports/idempotency.ts`). `own`: `run`
   * keeps a record of its own under `call.idempotency`. `refused`: 400 with the header, since a repeat would
   * need a value that is shown only once. C16.
   */
  readonly idempotent?: true | 'own' | 'refused'
  readonly input: {
    readonly params?: TSchema
    /** Shape of the query. A query is text: integers, numbers and booleans of the shape are converted before validation. */
    readonly query?: TSchema
    readonly headers?: readonly HeaderName[]
    /** A JSON body by its name in `schemas/bodies.ts`. */
    readonly body?: BodyName
    /**
     * A streamed body, which excludes `body`: a form with one part `file`, or the file itself. `whole`: the
     * whole request is passed on; `run` gets it as `call.relayed`.
     */
    readonly upload?: 'form' | 'raw' | 'whole'
    /** The last segment of the path matches the whole rest of the path, including slashes. */
    readonly hasRest?: true
  }
  readonly success: {
    readonly status: number
    /** Null: the reply has no body, and `run` returns `kind: 'nothing'`. */
    readonly body: TSchema | null
    /** The reply is a list without secrets and without an ETag: a large one is compressed for callers that accept gzip. */
    readonly isList?: true
    /** The operation is a read with `if-none-match` among its inputs: `run` may return `kind: 'unmodified'` for the reply 304. C2. */
    readonly isConditional?: true
    /** The shape of each event's data, if the reply may be server-sent events: `run` writes them with `call.events` and returns `streamed`. */
    readonly events?: TSchema
    /** The reply is a download of this type, whose status may also be 206, 304 or 416. C2. */
    readonly content?: 'application/octet-stream' | 'video/mp4'
    /** The reply comes from another server and may have any status; failures of Sluice itself carry `x-sluice-error`. */
    readonly isRelayed?: true
    /** Headers that only some replies have, each with its description. */
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Errors also have `reason` and `retryable`, which existing clients need. B2.4. */
  readonly tellsReason?: true
  /** Errors have Anthropic's form, and every reply has the header `request-id`. D20. */
  readonly isAnthropic?: true
  /** Errors also have `type` and `param`, which OpenAI's client shows. D20. */
  readonly tellsParam?: true
  /** Errors also have `sluice_metadata` and `user_id`, null when there is no value. C1, §2.1. */
  readonly tellsAccount?: true
  /**
   * Statuses of the contract row (§7, else B1/B2), without 401, which every operation has. A listed 429 means
   * that the operation is rate-limited.
   */
  readonly statuses: readonly number[]
  /** Failures that `run` itself may return; the pipeline's stages add their own. */
  readonly failures: readonly FailureName[]
  readonly example: { readonly params?: P; readonly query?: Q; readonly body?: unknown }
  run(call: Call<P, Q, B>, ports: Ports): Promise<Outcome<Success>> | Outcome<Success>
}

/**
 * Who may call the operation, decided by the key and the request's head alone. The members are in the order of
 * the checks. §4.4, B1.4, C5.
 */
export interface OperationAccess {
  readonly keys: readonly KeyKind[]
  /**
   * An inference or intern key needs one of these scopes; empty: every such key may call. Absent only when
   * neither kind of key may call. C34.
   */
  readonly keyScopes?: readonly KeyScope[]
  /** Header of the key, plain or after `Bearer`, when `authorization` carries another server's credential. */
  readonly header?: 'x-sluice-key'
  /** The key may also be sent as `x-api-key` when `authorization` is missing. D2. */
  readonly takesAnthropicKey?: true
  readonly isOfProgramme?: true
  /** The operation answers 403 on the operator's regional hostnames. */
  readonly refusesRegional?: true
  /** Finds the resource of the path before all other inputs are checked: 404 when the key may not see the resource. */
  readonly scope?: (request: ScopeRequest, ports: Ports) => Outcome<null> | Promise<Outcome<null>>
  /** The operation answers 503 while the workspace's vault writes are disabled. */
  readonly writesVault?: true
}

export interface ScopeRequest {
  readonly key: KeyRecord
  /** A parameter of the path, decoded but not yet validated. A name that occurs twice has its first value. */
  param(name: string): string | null
}

/**
 * An operation in a list: each `run` has its own input types, so a list cannot keep them. The pipeline passes
 * only validated values.
 */
export type AnyOperation = Omit<Operation<never, never, never>, 'example'> & Pick<Operation, 'example'>

/** Prefix of an operation's path on the wire. */
export function prefixOf({ area, isAtRoot }: Pick<AnyOperation, 'area' | 'isAtRoot'>): string {
  if (isAtRoot === true) return ''
  return area === 'scim' ? SCIM_PREFIX : API_PREFIX
}

/** True when calls count against the key's rate limit: the operation's contract row lists 429. C11. */
export function isRateLimited({ statuses }: Pick<AnyOperation, 'statuses'>): boolean {
  return FAILURES.rate_limited.status.some((status) => statuses.includes(status))
}

/** The part of a request that an operation sees: validated values, the caller and the deadline. */
export interface Call<P = unknown, Q = unknown, B = unknown> extends TextCaller {
  readonly operationId: string
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The streamed body; null for other operations. No bytes are read before `receive`. */
  readonly upload: Upload | null
  /** The request that the operation passes on, null for other operations; its path is in `params`. */
  readonly relayed: RelayedRequest | null
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>
  /** The identity of a call that may be repeated, when the operation is `idempotent`; null without the header. */
  readonly idempotency: Repeatable | null
  /** The claim of a call whose reply the pipeline stores: the store may save the reply in its own transaction. */
  readonly claim: IdempotencyClaim | null
  /** SHA-256 in lower-case hex of the body; null for a call without a claim. */
  readonly bodySha256: string | null
  /** False: the caller's organization must read earlier replies before Sluice produces more for it. */
  readonly hasRoomToRead: boolean
  /** The request was sent to a regional hostname. */
  readonly isRegional: boolean
}

/** A success: nothing, a JSON value, or bytes that are already JSON (for example slices of a provider's response). */
export type Success =
  /** No body: 204. */
  | { readonly kind: 'nothing'; readonly headers?: Readonly<Record<string, string>> }
  /** 304: the caller has the current version. RFC 9110 §15.4.5. */
  | {
      readonly kind: 'unmodified'
      readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
    }
  | ModelReply
  /** A file to download, whole or in part, as the request's headers ask; the reply closes the content. RFC 9110 §13, §14. */
  | {
      readonly kind: 'content'
      readonly content: Content
      readonly contentType: string
      /** Name of the download, without its folders. */
      readonly filename: string
    }
  /** The response of another server, with any status. */
  | { readonly kind: 'relay'; readonly answer: RelayedAnswer }

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

type BodyOf<N> = N extends BodyName ? Static<(typeof BODIES)[N]['schema']> : undefined

interface InputShapes {
  readonly params?: TSchema
  readonly query?: TSchema
  readonly headers?: readonly HeaderName[]
  readonly body?: BodyName
  readonly upload?: 'form' | 'raw' | 'whole'
  readonly hasRest?: true
}

/**
 * Adds the defaults, and types `run` by the declared inputs. The caller passes `B` when the body has another
 * type than the schema: a large member may stay bytes.
 */
export function defineOperation<const I extends InputShapes, B = BodyOf<I['body']>>(
  operation: Omit<Operation<StaticOf<I['params']>, StaticOf<I['query']>, B>, 'input' | keyof Defaults> &
    Partial<Pick<Operation, keyof Defaults>> & { readonly input: I },
): Operation<StaticOf<I['params']>, StaticOf<I['query']>, B> {
  return { ...defaultsOf(operation), ...operation }
}

export function changedBy({ key, requestId }: Pick<Call, 'key' | 'requestId'>): ChangedBy {
  return { actor: { kind: key.kind === 'scim' ? 'scim_token' : 'key', id: key.hash }, requestId }
}

/** The actor of a change, for an operation that makes several kinds of changes. */
export function actorOf(
  call: Pick<Call, 'key' | 'requestId' | 'operationId'>,
): ChangedBy & { readonly operation: string } {
  return { ...changedBy(call), operation: call.operationId }
}

/** The workspace whose files a caller sees: that of its key, or the organization's default one. B1.7, C22. */
export function ownWorkspaceOf({ workspaceId, defaultWorkspaceId }: KeyRecord): string {
  return workspaceId ?? defaultWorkspaceId
}
