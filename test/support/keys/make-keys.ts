import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { NewApiKey } from '../../../src/server/ports/keys/api-keys.ts'
import type { Invalidation } from '../../../src/server/ports/keys/keys.ts'
import type { ChangedBy } from '../../../src/server/ports/vault/vault.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openApiKeys } from '../../../src/server/store/keys/api-key-management.ts'
import type { CreatedKey, KeyInput } from '../../../src/server/store/keys/api-keys.ts'

/** A key of a workspace, or with the kind `management` and no workspace one of the organization. */
type OwnedKey = Pick<KeyInput, 'organizationId' | 'workspaceId'> & Partial<KeyInput>

type InternKey = Partial<Omit<KeyInput, 'organizationId'>> & {
  readonly internId: string
  /** Null = the intern's own organization. */
  readonly organizationId: string | null
}

/** Makes a key as the command line does. */
export function createKey(store: Store, input: OwnedKey, by: ChangedBy): Promise<Outcome<CreatedKey>> {
  const { workspaceId: workspace, ...birth } = input
  return made(store, { ...birth, workspace }, by)
}

export function createInternKey(store: Store, input: InternKey, by: ChangedBy): Promise<Outcome<CreatedKey>> {
  return made(store, { ...input, kind: 'intern' }, by)
}

const UNLIMITED: Omit<NewApiKey, 'organizationId'> = {
  kind: 'inference',
  name: 'k',
  workspace: null,
  internId: null,
  limitNano: null,
  limitReset: null,
  countsByok: false,
  rateLimitRpm: null,
  allowedModels: null,
  scopes: null,
  creatorUserId: null,
  externalUser: null,
  expiresAt: null,
}

type Birth = Pick<NewApiKey, 'organizationId'> & Partial<NewApiKey> & Pick<KeyInput, 'traits'>

async function made(store: Store, { traits, ...birth }: Birth, by: ChangedBy): Promise<Outcome<CreatedKey>> {
  let change: Invalidation | undefined
  const publish = async (one: Invalidation): Promise<void> => void (change = one)
  const keys = openApiKeys({ store, publish, rateLimitRpm: null })
  const input = { ...UNLIMITED, ...birth, ...traits }
  const created = await keys.create(input, { ...by, operation: 'cli.keys-create' })
  if (!created.ok) return created
  if (change === undefined) throw new Error('a new key was not published')
  return ok({ ...created.value, change })
}
