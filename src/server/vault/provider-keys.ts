import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { KeyedProvider } from '../../schemas/provider-keys.ts'
import { Secret } from '../../schemas/secret.ts'
import type { DataKey, KeyRing } from '../ports/key-ring.ts'
import type { ProviderKeyRows, ProviderKeys } from '../ports/provider-keys.ts'
import { lengthPrefixed, openValue, sealValue } from './envelope.ts'

/** Workspaces' own provider keys: plain nowhere but in the answer of `get`. */
export function openProviderKeys({ ring, rows }: { readonly ring: KeyRing; readonly rows: ProviderKeyRows }): ProviderKeys {
  return {
    async get(workspaceId, provider) {
      const row = await rows.get(workspaceId, provider)
      if (!row.ok) return row
      if (row.value === null) return ok(null)
      const dataKey = await ring.byId(workspaceId, 'secrets', row.value.dataKeyId)
      return dataKey.ok ? open(dataKey.value, row.value.sealed, boundTo(workspaceId, provider)) : dataKey
    },
    async put(workspaceId, provider, key) {
      const dataKey = await ring.current(workspaceId, 'secrets')
      if (!dataKey.ok) return dataKey
      const plain = Buffer.from(key.reveal())
      const sealed = sealValue(dataKey.value.key, plain, boundTo(workspaceId, provider))
      plain.fill(0)
      dataKey.value.key.fill(0)
      return rows.put(workspaceId, provider, { dataKeyId: dataKey.value.id, sealed })
    },
    remove: (workspaceId, provider) => rows.remove(workspaceId, provider),
  }
}

function open(dataKey: DataKey, sealed: Uint8Array, aad: Uint8Array): Outcome<Secret> {
  const plain = openValue(dataKey.key, sealed, aad)
  dataKey.key.fill(0)
  if (plain === null) return fail('data_key_unavailable', { cause: new Error('a provider key does not open') })
  const key = new Secret(plain.toString())
  plain.fill(0)
  return ok(key)
}

function boundTo(workspaceId: string, provider: KeyedProvider): Buffer {
  return lengthPrefixed('sluice provider key', workspaceId, provider)
}
