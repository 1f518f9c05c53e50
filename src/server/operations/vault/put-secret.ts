import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { normalHosts } from '../../../schemas/egress/hosts.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import {
  InternSecretParams,
  SecretAnswer,
  secretAnswer,
  SecretParams,
  type SecretBody,
} from '../../../schemas/vault/vault.ts'
import type { Vaults, VaultScope } from '../../ports/vault/vault.ts'
import { changedBy, defineOperation, type Call, type Success } from '../define.ts'
import {
  EXAMPLE_INTERN,
  INTERN_ACCESS,
  internScope,
  SEALING_FAILURES,
  VAULT_FAILURES,
  VAULT_STATUSES,
  WORKSPACE_ACCESS,
  workspaceScope,
} from './vault-scope.ts'

const DESCRIPTION =
  'Creates or replaces the secret; replacing keeps `created_at`. The value is encrypted, write-only, and released to exactly these hosts.'
const EXAMPLE_BODY = { hosts: ['api.example.com'], value: 'a secret value' }

/** Stores a secret of the workspace. Source: §4.4, B1.4. */
export const putSecret = defineOperation({
  id: 'vault.put_secret',
  method: 'put',
  path: '/vault/secrets/{name}',
  tag: 'vault',
  summary: 'Store a workspace secret',
  description: DESCRIPTION,
  access: { ...WORKSPACE_ACCESS, keyScopes: ['vault:write'], writesVault: true },
  input: { params: SecretParams, body: 'secret' },
  success: { status: 200, body: SecretAnswer },
  statuses: [...VAULT_STATUSES, 413],
  failures: ['body_invalid', 'vault_unknown', ...SEALING_FAILURES, ...VAULT_FAILURES],
  example: { params: { name: 'github_token' }, body: EXAMPLE_BODY },
  run: (call, { vaults }) => put(vaults, workspaceScope(call), call),
})

/** Stores a secret of one intern. Source: B2.4. */
export const putInternSecret = defineOperation({
  id: 'vault.put_intern_secret',
  method: 'put',
  path: '/vault/interns/{intern_id}/secrets/{name}',
  tag: 'vault',
  summary: "Store an intern's secret",
  description: DESCRIPTION,
  access: { ...INTERN_ACCESS, keyScopes: ['vault:write'], writesVault: true },
  input: { params: InternSecretParams, body: 'secret' },
  success: { status: 200, body: SecretAnswer },
  statuses: [...VAULT_STATUSES, 409, 413],
  failures: ['body_invalid', 'intern_unknown', ...SEALING_FAILURES, ...VAULT_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN, name: 'github_token' }, body: EXAMPLE_BODY },
  run: (call, { vaults }) => put(vaults, internScope(call), call),
})

async function put(
  vaults: Vaults,
  scope: VaultScope,
  call: Call<{ readonly name: string }, unknown, SecretBody>,
): Promise<Outcome<Success>> {
  const normal = normalHosts(call.body.hosts, '/hosts')
  if (normal.hosts === null) return fail('body_invalid', { metadata: { issues: normal.issues } })
  const { name } = call.params
  const stored = await vaults.put(
    scope,
    { name, hosts: normal.hosts, value: new Secret(call.body.value) },
    changedBy(call),
  )
  return stored.ok ? ok({ kind: 'json', value: { data: secretAnswer(stored.value) } }) : stored
}
