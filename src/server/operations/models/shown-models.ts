import { ok, type Outcome } from '../../../schemas/failures.ts'
import { hasScope } from '../../../schemas/keys/permissions.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { ModelFilter, ResolvedModel, OwnListing } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import { VAULT_USE } from '../model-calls.ts'
import { modelUnknown } from '../name-hints.ts'

type MaybeLater<T> = T | Promise<T>
type ModelPorts = Pick<Ports, 'models' | 'privateModels'>
type Own = Outcome<OwnListing | null>

/**
 * The models of a filter that a key may see: those of the catalogue, and those of its own workspace that it
 * may call. While the store is unavailable a list has only those of the catalogue. B2.3.
 */
export function selectModels<T>(
  { key, filter }: { readonly key: KeyRecord; readonly filter: ModelFilter },
  ports: ModelPorts,
  use: (found: readonly ResolvedModel[]) => MaybeLater<T>,
): MaybeLater<T> {
  const found = ports.models.select(filter)
  return withOwn(key, ports, (own) => use(own?.among(found, filter) ?? found))
}

/**
 * The models with an endpoint that declares zero data retention and that a key may see; while the store is
 * unavailable only those of the catalogue.
 */
export function selectWithoutRetention<T>(
  key: KeyRecord,
  ports: ModelPorts,
  use: (found: readonly ResolvedModel[]) => MaybeLater<T>,
): MaybeLater<T> {
  const found = ports.models.select({ isZdr: true })
  return withOwn(key, ports, (own) => use(own?.withoutRetention(found) ?? found))
}

function withOwn<T>(
  key: KeyRecord,
  ports: ModelPorts,
  use: (own: OwnListing | null) => MaybeLater<T>,
): MaybeLater<T> {
  const proceed = (own: Own): MaybeLater<T> => use(own.ok ? own.value : null)
  const own = ownModels(key, ports)
  return own instanceof Promise ? own.then(proceed) : proceed(own)
}

/** Finds a model that a key may see. Failures: model_unknown, and those of `PrivateModels.of`. */
export function findModel(key: KeyRecord, id: string, ports: ModelPorts): MaybeLater<Outcome<ResolvedModel>> {
  const known = ports.models.resolve(id)
  const find = (own: Own): Outcome<ResolvedModel> => {
    const ours = own.ok ? (own.value?.resolve(known?.id ?? id) ?? null) : null
    if (ours !== null && (known === null || ours.id === known.id)) return ok(ours)
    if (known !== null) return ok(known)
    return own.ok ? modelUnknown(id, ports.models) : own
  }
  const own = ownModels(key, ports)
  return own instanceof Promise ? own.then(find) : find(own)
}

/** Null: the key may call no private endpoint. Returns a promise only for a workspace's first call. C34. */
function ownModels(key: KeyRecord, { privateModels }: ModelPorts): MaybeLater<Own> {
  if (key.workspaceId === null || !hasScope(key.scopes, VAULT_USE)) return NONE
  const own = privateModels.of(key)
  if (own === null) return NONE
  if (!(own instanceof Promise)) return ok(own.listing)
  return own.then((loaded) => (loaded.ok ? ok(loaded.value?.listing ?? null) : loaded))
}

const NONE: Own = ok(null)
