import type { Static, TSchema } from 'typebox'
import { API_PREFIX, SCIM_PREFIX } from '../../schemas/api-prefix.ts'
import type { KeyKind } from '../../schemas/keys/api-keys.ts'
import type { BodyName } from '../../schemas/bodies.ts'
import { FAILURES, fail, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { hasScope, scopesText, type KeyScope } from '../../schemas/keys/scopes.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'
import type { Content, Upload } from '../ports/byte-streams.ts'
import type { IdempotencyClaim } from '../ports/idempotency.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { CallableModel, Endpoint } from '../ports/models/models.ts'
import type { CallNotes } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import type { WorkspaceModels } from '../ports/endpoints/private-endpoints.ts'
import type { ChangedBy } from '../ports/vault/vault.ts'
import type { RelayedAnswer, RelayedRequest } from '../ports/egress/relay.ts'

/** Headers that an operation may declare as inputs; all lower case. */
export type HeaderName =
  | 'x-session-id'
  | 'range'
  | 'if-range'
  | 'if-match'
  | 'if-none-match'
  | 'anthropic-version'
  | 'anthropic-beta'
  | 'user-agent'
  | 'x-sluice-hops'
  /** Stands for any header that begins with `x-stainless-`. C8. */
  | 'x-stainless-lang'
  | 'x-sluice-substitute'

/**
 * One operation of the API, as data. Routes, validators, OpenAPI, bench rows and contract tests are computed
 * from it.
 */
export interface Operation<P = unknown, Q = unknown, B = unknown> {
  /** Stable name in logs, metrics and bench rows: `embeddings.create`. */
  readonly id: string
  /** `any`: every one but CONNECT and TRACE. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'any'
  /** Below `/api/v1`, or what `area` says, with `{name}` segments: `/model/{author}/{slug}`. */
  readonly path: string
  /** `scim`: it lies below `/scim/v2`, and answers bodies and errors of RFC 7644. C2, C29. */
  readonly area?: 'scim'
  /**
   * The path is one of the root, `/word/{name}/{rest}`: its parameters are taken as sent, undecoded, and the
   * rest may be empty. C29.
   */
  readonly isAtRoot?: true
  readonly tag: string
  readonly summary: string
  /** Sentences beyond the summary, for those whose inputs have rules; facts come from `schemas`. */
  readonly description?: string
  readonly access: OperationAccess
  readonly deadlineMs: number
  /**
   * True when work that began must end although the client left (writes, paid calls): its call settles behind
   * it. False for reads: they are told by the signal, and nobody waits for them.
   */
  readonly outlivesClient: boolean
  /**
   * It takes an `Idempotency-Key`. `true`: the pipeline keeps its answer, which is JSON, for those who repeat
   * the call; that is all a create has to say (see `ports/idempotency.ts`). `own`: `run` keeps a record of
   * its own under `call.idempotency`. `refused`: 400 with the header, since a repetition would need what is
   * shown only once. C16.
   */
  readonly idempotent?: true | 'own' | 'refused'
  readonly input: {
    readonly params?: TSchema
    /**
     * A query is text: what the shape calls an integer, a number or a boolean is converted before it is
     * validated.
     */
    readonly query?: TSchema
    readonly headers?: readonly HeaderName[]
    /** A JSON body by its name in `schemas/bodies.ts`. */
    readonly body?: BodyName
    /**
     * A body that is streamed: a form with one part `file`, or the file itself. It excludes `body`.
     * `whole`: the request is passed on, and `run` sees all of it in `call.relayed`.
     */
    readonly upload?: 'form' | 'raw' | 'whole'
    /** The last segment of the path takes all that follows, slashes included. */
    readonly hasRest?: true
  }
  readonly success: {
    readonly status: number
    /** Null: it has none, and `run` gives `kind: 'nothing'`. */
    readonly body: TSchema | null
    /** A list without secrets and without an ETag: a large one is compressed for callers that take gzip. */
    readonly isList?: true
    /**
     * A read with `if-none-match` among its inputs: `run` may give `kind: 'unmodified'`, which is 304. C2.
     */
    readonly isConditional?: true
    /** The answer is a download of this type, which also has 206, 304 and 416. C2. */
    readonly content?: 'application/octet-stream' | 'video/mp4'
    /** The answer is somebody else's, of any status; failures of ours say so in `x-sluice-error`. */
    readonly isRelayed?: true
    /** Headers that only some answers have, each with what it says. */
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Its errors say `reason` and `retryable` too, without which existing clients do not take them. B2.4. */
  readonly tellsReason?: true
  /**
   * Its errors have the members `sluice_metadata` and `user_id`, null while nothing is known for them. C1,
   * §2.1.
   */
  readonly tellsAccount?: true
  /**
   * Statuses of the contract row (§7, else B1/B2), without 401, which every operation has. 429 listed =
   * rate-limited.
   */
  readonly statuses: readonly number[]
  /** Failures that `run` itself may return; those of the pipeline's stages are not repeated here. */
  readonly failures: readonly FailureName[]
  readonly example: { readonly params?: P; readonly query?: Q; readonly body?: unknown }
  run(call: Call<P, Q, B>, ports: Ports): Promise<Outcome<Success>> | Outcome<Success>
}

/**
 * Who may call, told by the key and the request's head alone; the order of these is that of the checks. §4.4,
 * B1.4, C5.
 */
export interface OperationAccess {
  readonly keys: readonly KeyKind[]
  /**
   * Any of these scopes lets an inference or intern key in; empty: each may. Left out only where neither kind
   * may. C34.
   */
  readonly keyScopes?: readonly KeyScope[]
  /** Where the key stands when `authorization` is free for somebody else's: alone or behind `Bearer`. */
  readonly header?: 'x-sluice-key'
  /** Outside of the programme it is 404. */
  readonly isOfProgramme?: true
  /** On the operator's regional hostnames it is 403. */
  readonly refusesRegional?: true
  /**
   * Finds what the path is about before anything else of it is looked at: 404 when it is not the key's to
   * see.
   */
  readonly scope?: (request: ScopeRequest, ports: Ports) => Outcome<null> | Promise<Outcome<null>>
  /** While the workspace's vault writes are disabled it is 503. */
  readonly writesVault?: true
}

export interface ScopeRequest {
  readonly key: KeyRecord
  /** Decoded and not yet validated; the first text of each name. */
  param(name: string): string | null
}

/**
 * An operation as lists hold it: `run` takes its own inputs, so a list must forget them; the pipeline gives
 * each only what it validated.
 */
export type AnyOperation = Omit<Operation<never, never, never>, 'example'> & Pick<Operation, 'example'>

/** What the path of an operation begins with on the wire. */
export function prefixOf({ area, isAtRoot }: Pick<AnyOperation, 'area' | 'isAtRoot'>): string {
  if (isAtRoot === true) return ''
  return area === 'scim' ? SCIM_PREFIX : API_PREFIX
}

/** Whether calls count against the key's limit: its contract row lists 429. C11. */
export function isRateLimited({ statuses }: Pick<AnyOperation, 'statuses'>): boolean {
  return FAILURES.rate_limited.status.some((status) => statuses.includes(status))
}

/** What an operation sees of a request: validated values, who calls, and when to give up. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly requestId: string
  readonly key: KeyRecord
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Of an operation that takes one; it stands still until `receive`. */
  readonly upload: Upload | null
  /** Of an operation that passes the request on; its path stands in `params`. */
  readonly relayed: RelayedRequest | null
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>
  /**
   * Of an operation that is `idempotent`: what a repetition has in common with this call; null without the
   * header.
   */
  readonly idempotency: Repeatable | null
  /** Of one whose answer the pipeline keeps: for a store that keeps it in its own transaction. */
  readonly turn: IdempotencyClaim | null
  /** Lower-case hex, of the body of such a call. */
  readonly bodySha256: string | null
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number
  readonly deadlineAt: number
  /** Created on first use; its reason is a `CallEnded`. */
  readonly signal: AbortSignal
  /** Whether the signal is aborted: asking this makes none. */
  readonly hasEnded: boolean
  /** False: the caller's organization has to read before more is made for it. */
  readonly hasRoomToRead: boolean
  readonly notes: CallNotes
  /**
   * Of a call that outlives its client: it is charged for from now on, or no longer. While it is, nobody
   * hears that the client left.
   */
  sent(isSent: boolean): void
}

/**
 * A success: nothing, a JSON value, or bytes that are already JSON (slices of a provider's answer among
 * them).
 */
export type Success =
  /** No body at all: 204. */
  | { readonly kind: 'nothing'; readonly headers?: Readonly<Record<string, string>> }
  /** 304: the caller has it already. RFC 9110 §15.4.5. */
  | {
      readonly kind: 'unmodified'
      readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
    }
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly kind: 'bytes'
      readonly parts: readonly Uint8Array[]
      readonly contentType: string
      readonly headers?: Readonly<Record<string, string>>
      /** Its parts are kept anyway, and no other answer has its own: unread, it takes no memory. */
      readonly isShared?: boolean
      /**
       * Called exactly once, when the last byte was written or the reply was dropped: it returns borrowed
       * memory.
       */
      readonly done?: () => void
    }
  /**
   * A file to download, whole or in part as the request's headers ask; the reply closes it. RFC 9110 §13,
   * §14.
   */
  | {
      readonly kind: 'content'
      readonly content: Content
      readonly contentType: string
      /** Names the download; its folders are left out. */
      readonly filename: string
    }
  /** Somebody else's answer, whatever its status. */
  | { readonly kind: 'relay'; readonly answer: RelayedAnswer }

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

interface InputShapes {
  readonly params?: TSchema
  readonly query?: TSchema
  readonly headers?: readonly HeaderName[]
  readonly body?: BodyName
  readonly upload?: 'form' | 'raw' | 'whole'
  readonly hasRest?: true
}

/** Types `run` by the declared inputs; `B` is given by the caller, since a bulky member may stay bytes. */
export function defineOperation<const I extends InputShapes, B = undefined>(
  operation: Omit<Operation<StaticOf<I['params']>, StaticOf<I['query']>, B>, 'input'> & { readonly input: I },
): Operation<StaticOf<I['params']>, StaticOf<I['query']>, B> {
  return operation
}

/** Who changes something, for the audit log. */
export function changedBy({ key, requestId }: Pick<Call, 'key' | 'requestId'>): ChangedBy {
  return { actor: { kind: key.kind === 'scim' ? 'scim_token' : 'key', id: key.hash }, requestId }
}

/**
 * Whose files a caller sees: those of its key's workspace, or of the organization's default one. B1.7, C22.
 */
export function ownWorkspaceOf({ workspaceId, defaultWorkspaceId }: KeyRecord): string {
  return workspaceId ?? defaultWorkspaceId
}

type Known = Outcome<Pick<Ports['models'], 'resolve'> | WorkspaceModels>

/**
 * The models that a key may call: those of its workspace, where that has endpoints or keys of its own, else
 * the catalogue's. At once but for a workspace's first call.
 */
export function modelsOf(
  key: KeyRecord,
  { models, privateModels }: Pick<Ports, 'models' | 'privateModels'>,
): Known | Promise<Known> {
  const own = privateModels.of(key)
  if (own === null) return { ok: true, value: models }
  if (!(own instanceof Promise)) return { ok: true, value: own }
  return own.then((loaded) => (loaded.ok ? { ok: true, value: loaded.value ?? models } : loaded))
}

/**
 * The model as this key may call it: private endpoints release a secret, which a key without `vault:use` may
 * not.
 * Failure: scope_missing (nothing else serves the model). C34.
 */
export function callableBy(
  { scopes }: Pick<KeyRecord, 'scopes'>,
  model: CallableModel,
): Outcome<CallableModel> {
  if (hasScope(scopes, VAULT_USE) || !model.endpoints.some(isPrivate)) return { ok: true, value: model }
  const endpoints = model.endpoints.filter((endpoint) => !isPrivate(endpoint))
  return endpoints.length > 0
    ? { ok: true, value: { ...model, endpoints } }
    : fail('scope_missing', { fields: { scope: scopesText(VAULT_USE) } })
}

const VAULT_USE = ['vault:use'] as const satisfies readonly KeyScope[]

/** A catalogue's provider under the workspace's own key has no destination of its own. */
function isPrivate({ ownWay }: Endpoint): boolean {
  return ownWay !== undefined && ownWay.destination !== null
}
