import { useMemo } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Api } from '../api.ts'
import type { PageContext } from '../page.ts'
import { useLoaded } from './loaded.tsx'

/** Characters of a hash that distinguish keys at a glance. */
const HASH_CHARS = 12
/** Last characters of a key in its label, which distinguish keys with the same name. */
const END_CHARS = 3
/** Keys whose names are loaded at most, and keys on one page. */
const KEYS_MAX = 500
const KEYS_PAGE = 100

export interface KeyNames {
  readonly keys: readonly ApiKey[]
  /** The name of a key, with its last letters if another key has the same name. @param known a name from the log */
  nameOf(hash: string, known?: string | null): string
}

/** Labels of keys: their names, or the first characters of the hash for unknown keys. */
export function useKeyNames({ api, session }: PageContext): KeyNames {
  const { value } = useLoaded((signal) => listKeys(api, signal), [api])
  return useMemo(() => {
    const keys = value ?? []
    const names = namesOf(keys)
    const own = session.key
    return {
      keys,
      nameOf: (hash, known = null) => {
        const name = names.get(hash) ?? known ?? `${hash.slice(0, HASH_CHARS)}…`
        return hash === own.hash ? `${own.name} (you)` : name
      },
    }
  }, [value, session])
}

/** Labels by hash: `shop`, or `shop …7Qa` when several keys have that name. */
export function namesOf(keys: readonly ApiKey[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of keys) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(
    keys.map(({ hash, name, label }) => [
      hash,
      (counts.get(name) ?? 0) > 1 ? `${name} …${label.slice(-END_CHARS)}` : name,
    ]),
  )
}

/** The newest keys, disabled ones too. */
export async function listKeys(api: Api, signal: AbortSignal): Promise<readonly ApiKey[]> {
  const found: ApiKey[] = []
  while (found.length < KEYS_MAX) {
    const query = { include_disabled: true, offset: found.length }
    const { data } = await api.get<{ data: readonly ApiKey[] }>(['keys'], query, signal)
    found.push(...data)
    if (data.length < KEYS_PAGE) break
  }
  return found
}
