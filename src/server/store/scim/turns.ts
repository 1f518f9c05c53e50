import { fail, type Outcome } from '../../../schemas/failures.ts'
import { DIRECTORY_CALLS_WAITING_MAX } from '../../../schemas/scim/scim-resource-limits.ts'
import type { Store } from '../base/open.ts'

/**
 * Calls that one process runs one at a time for an organization: changes of its directory, and reads of large
 * parts of it.
 */
export type TurnKind = 'change' | 'read'

interface Line {
  waiting: number
  last: Promise<unknown>
}

const LINES = new WeakMap<Store, Map<string, Line>>()

/**
 * Waits until the organization's earlier calls of that kind have ended, and only then takes a connection.
 * Calls that waited for one lock, or that read a whole directory at once, would otherwise hold all
 * connections of this process, and no other call would be served. Failure: store_unavailable, when too many
 * calls wait already.
 */
export async function inTurn<T>(
  store: Store,
  { organizationId, kind }: { readonly organizationId: string; readonly kind: TurnKind },
  work: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const lines = LINES.get(store) ?? new Map<string, Line>()
  LINES.set(store, lines)
  const name = `${kind} ${organizationId}`
  const line = lines.get(name) ?? { waiting: 0, last: Promise.resolve() }
  if (line.waiting >= DIRECTORY_CALLS_WAITING_MAX) return fail('store_unavailable', { retryAfterS: 1 })
  lines.set(name, line)
  line.waiting += 1
  const before = line.last
  const done = (async () => {
    await before.catch(() => {})
    return work()
  })()
  line.last = done
  try {
    return await done
  } finally {
    line.waiting -= 1
    if (line.waiting === 0) lines.delete(name)
  }
}
