import { randomFillSync } from 'node:crypto'
import { fail, type Outcome, type FailureName } from '../../schemas/failures.ts'
import { hasScope, scopesText, type KeyScope, isModelAllowed } from '../../schemas/keys/permissions.ts'
import type { WorkspaceModels } from '../ports/endpoints/private-endpoints.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { CallableModel, Endpoint } from '../ports/models/models.ts'
import type { Ports } from '../ports/ports.ts'
import { modelNotAllowed, modelUnfit, modelUnknown } from './name-hints.ts'
import { PRESET_USE_FAILURES } from './apply-preset.ts'

export type Makes = 'embeddings' | 'texts'

export type KnownModels = Pick<Ports['models'], 'resolve'> | WorkspaceModels

/**
 * The models of the key's workspace when it has endpoints or keys of its own, otherwise the catalogue's. A
 * promise only for a workspace's first call.
 */
export function modelsOf(
  key: KeyRecord,
  { models, privateModels }: Pick<Ports, 'models' | 'privateModels'>,
): Outcome<KnownModels> | Promise<Outcome<KnownModels>> {
  const own = privateModels.of(key)
  if (own === null) return { ok: true, value: models }
  if (!(own instanceof Promise)) return { ok: true, value: own }
  return own.then((loaded) => (loaded.ok ? { ok: true, value: loaded.value ?? models } : loaded))
}

interface Wanted {
  /** The name as the caller wrote it: id, alias or variant. */
  readonly name: string
  readonly makes: Makes
  readonly key: KeyRecord
}

/**
 * The model that a call names, reduced to what its key may call. Failures: model_unknown, scope_missing,
 * model_not_allowed, model_unfit.
 */
export function callableModel(
  { name, makes, key }: Wanted,
  known: KnownModels,
  { models }: Pick<Ports, 'models'>,
): Outcome<CallableModel> {
  const found = known.resolve(name)
  if (found === null) return modelUnknown(name, models, key.allowedModels)
  const callable = callableBy(key, found)
  if (!callable.ok) return callable
  const model = callable.value
  if (!isModelAllowed(key.allowedModels, model.id)) return modelNotAllowed(model)
  const isFit = makes === 'embeddings' ? model.isEmbedding : model.isWriter
  return isFit ? callable : modelUnfit(model, makes, models)
}

/**
 * The model in the form that this key may call: calls of private endpoints use a secret, which needs the scope
 * `vault:use`. Failure: scope_missing (no other endpoint serves the model). C34.
 */
function callableBy({ scopes }: Pick<KeyRecord, 'scopes'>, model: CallableModel): Outcome<CallableModel> {
  if (hasScope(scopes, VAULT_USE) || !model.endpoints.some(isPrivate)) return { ok: true, value: model }
  const endpoints = model.endpoints.filter((endpoint) => !isPrivate(endpoint))
  return endpoints.length > 0
    ? { ok: true, value: { ...model, endpoints } }
    : fail('scope_missing', { fields: { scope: scopesText(VAULT_USE) } })
}

/** Scope that a key needs to call private endpoints. */
export const VAULT_USE = ['vault:use'] as const satisfies readonly KeyScope[]

/** True for a private endpoint. A provider of the catalogue called with the workspace's own key is not one: its destination is the catalogue's. */
function isPrivate({ ownWay }: Endpoint): boolean {
  return ownWay !== undefined && ownWay.destination !== null
}

/** Gateways that a call has passed. A value that is not a count was not written by Sluice and counts as 0. */
export function hopsOf({
  headers,
}: {
  readonly headers: { readonly 'x-sluice-hops'?: string | undefined }
}): number {
  const text = headers['x-sluice-hops']
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : 0
}

const RANDOM_DIGITS = 20

const TIME_DIGITS = 12

/** Random bytes for many ids, drawn at once: one draw costs more than ten ids. */
const pool = Buffer.alloc((RANDOM_DIGITS / 2) * 256)

let digits = ''

let drawn = 0

/** Time of the last id, in milliseconds. */
let lastMs = Number.NaN

/** Hex text of `lastMs`: many ids have the same millisecond. */
let time = ''

/** The prefix, the millisecond in hex, 80 random bits: ids sort by time and cannot be guessed. C9. */
export function nextCallId(prefix: 'emb_' | 'gen_'): string {
  if (drawn === digits.length) {
    digits = randomFillSync(pool).toString('hex')
    drawn = 0
  }
  const now = Date.now()
  if (now !== lastMs) {
    lastMs = now
    time = now.toString(16).padStart(TIME_DIGITS, '0')
  }
  drawn += RANDOM_DIGITS
  return prefix + time + digits.slice(drawn - RANDOM_DIGITS, drawn)
}

export const MODEL_CALL_FAILURES = [
  'body_invalid',
  ...PRESET_USE_FAILURES,
  'header_invalid',
  'model_unknown',
  'model_not_allowed',
  'scope_missing',
  'tokens_over_limit',
  'model_unfit',
  'endpoint_excluded',
  'endpoint_unconfigured',
  'endpoint_unavailable',
  'hops_exceeded',
  'upstream_failed',
  'upstream_invalid',
  'upstream_too_large',
  'upstream_credential',
  'upstream_own_key',
  'provider_key_unfit',
  'upstream_overloaded',
  'upstream_slow',
  'upstream_refused',
  'credential_unavailable',
  'deadline_exceeded',
  'draining',
  'client_gone',
] as const satisfies readonly FailureName[]

export const PAID_CALL_FAILURES = [
  ...MODEL_CALL_FAILURES,
  'credit_exhausted',
  'key_limit_exceeded',
  'budget_exceeded',
  'cost_unbounded',
  'internal',
] as const satisfies readonly FailureName[]
