import { useMemo } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { PageContext } from '../page.ts'
import { useLoaded } from './loaded.tsx'

/** Characters of a hash that tell keys apart for the eye. */
const HASH_CHARS = 12

/** What people know keys by: the names of the newest ones, and of others the begin of the hash. */
export function useKeyNames({ api, session }: PageContext): (hash: string) => string {
  const { value } = useLoaded(
    (signal) => api.get<{ data: readonly ApiKey[] }>(['keys'], { include_disabled: true }, signal),
    [api],
  )
  return useMemo(() => {
    const names = new Map(value?.data.map(({ hash, name }) => [hash, name]))
    const own = session.key
    return (hash: string) =>
      hash === own.hash ? `${own.name} (you)` : (names.get(hash) ?? `${hash.slice(0, HASH_CHARS)}…`)
  }, [value, session])
}
