import type { KeyKind } from '../../schemas/keys/api-keys.ts'
import type { KeyScope } from '../../schemas/keys/permissions.ts'
import { CONTROL_DEADLINE_MS } from '../../schemas/limits/limits.ts'
import type { TagName } from './tags.ts'

interface KeyAccess {
  readonly keys: readonly KeyKind[]
  readonly keyScopes?: readonly KeyScope[]
  readonly refusesRegional?: true
}

/** The members of a definition that follow from its method and its tag: a definition has only what differs. */
export interface Defaults {
  readonly access: KeyAccess
  readonly deadlineMs: number
  readonly outlivesClient: boolean
}

const MANAGEMENT: KeyAccess = { keys: ['management'] }
const SCIM: KeyAccess = { keys: ['scim'] }
const VIDEOS: KeyAccess = { keys: ['inference', 'intern'], keyScopes: ['videos'] }
/** Management keys alone, since other keys see the secrets by their names. */
const PROVIDER_KEYS: KeyAccess = { keys: ['management'], refusesRegional: true }

/** Access by tag, of reads and of all other methods; with any other tag only management keys may call. */
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
