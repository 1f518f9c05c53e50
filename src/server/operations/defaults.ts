import type { KeyKind } from '../../schemas/keys/api-keys.ts'
import type { KeyScope } from '../../schemas/keys/permissions.ts'
import { CONTROL_DEADLINE_MS } from '../../schemas/limits/limits.ts'
import type { TagName } from './tags.ts'

interface KeyAccess {
  readonly keys: readonly KeyKind[]
  readonly keyScopes?: readonly KeyScope[]
  readonly refusesRegional?: true
}

/** Members of a definition that follow from its method and its tag: a definition states only the differences. */
export interface Defaults {
  readonly access: KeyAccess
  readonly deadlineMs: number
  readonly outlivesClient: boolean
}

const MANAGEMENT: KeyAccess = { keys: ['management'] }
const SCIM: KeyAccess = { keys: ['scim'] }
const VIDEOS: KeyAccess = { keys: ['inference', 'intern'], keyScopes: ['videos'] }
/** Only management keys: other keys see only the names of secrets. */
const PROVIDER_KEYS: KeyAccess = { keys: ['management'], refusesRegional: true }

/** Access by tag, for reads and for all other methods; operations with any other tag accept only management keys. */
const ACCESS: Readonly<Partial<Record<TagName, readonly [read: KeyAccess, write: KeyAccess]>>> = {
  models: [{ keys: ['inference', 'management', 'intern'], keyScopes: [] }, MANAGEMENT],
  // Keys of a workspace read its records, management keys those of their organization.
  inference: [
    { keys: ['inference', 'intern', 'management'], keyScopes: ['inference'] },
    { keys: ['inference', 'intern'], keyScopes: ['inference'] },
  ],
  videos: [VIDEOS, VIDEOS],
  files: [
    { keys: ['inference', 'intern'], keyScopes: ['files:read'], refusesRegional: true },
    { keys: ['inference', 'intern'], keyScopes: ['files:write'], refusesRegional: true },
  ],
  containers: [
    { keys: ['inference', 'intern'], keyScopes: ['files:read'] },
    { keys: ['inference', 'intern'], keyScopes: ['files:write'] },
  ],
  presets: [
    { keys: ['management', 'inference', 'intern'], keyScopes: [] },
    { keys: ['management'], keyScopes: ['presets:write'] },
  ],
  byok: [PROVIDER_KEYS, PROVIDER_KEYS],
  scim: [SCIM, SCIM],
}

export function defaultsOf({ method, tag }: { readonly method: string; readonly tag: TagName }): Defaults {
  const [read, write] = ACCESS[tag] ?? [MANAGEMENT, MANAGEMENT]
  return {
    access: method === 'get' ? read : write,
    deadlineMs: CONTROL_DEADLINE_MS,
    outlivesClient: method !== 'get' && method !== 'any',
  }
}
