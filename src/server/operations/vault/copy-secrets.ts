import { fail, ok } from '../../../schemas/failures.ts'
import { InternParams, secretAnswer, SecretsAnswer } from '../../../schemas/vault/vault.ts'
import { changedBy, defineOperation } from '../define.ts'
import {
  EXAMPLE_INTERN,
  INTERN_ACCESS,
  internScope,
  SEALING_FAILURES,
  VAULT_FAILURES,
  VAULT_STATUSES,
} from './vault-scope.ts'

/** Copies secrets of the workspace into an intern's vault, all or none. Source: B2.4. */
export const copySecrets = defineOperation({
  id: 'vault.copy_secrets',
  method: 'post',
  path: '/vault/interns/{intern_id}/secrets/copy',
  tag: 'vault',
  summary: 'Copy workspace secrets to an intern',
  description:
    'Copies all of the secrets or none. A copy is independent: it stays when its source is replaced or deleted, and has its own fingerprint.',
  access: { ...INTERN_ACCESS, keyScopes: ['vault:write'], writesVault: true },
  input: { params: InternParams, body: 'secret_copy' },
  success: { status: 200, body: SecretsAnswer },
  statuses: [...VAULT_STATUSES, 409, 413],
  failures: [
    'body_invalid',
    'intern_unknown',
    'secret_unknown',
    'secret_uncopyable',
    'intern_in_transfer',
    ...SEALING_FAILURES,
    ...VAULT_FAILURES,
  ],
  example: { params: { intern_id: EXAMPLE_INTERN }, body: { names: ['github_token'] } },
  async run(call, { vaults }) {
    const { names } = call.body
    const repeated = names.findIndex((name, nth) => names.indexOf(name) < nth)
    if (repeated >= 0) {
      const issue = {
        path: `/names/${repeated}`,
        message: 'is repeated',
        expected: 'each name once',
      }
      return fail('body_invalid', { metadata: { issues: [issue] } })
    }
    const copied = await vaults.copy(internScope(call), names, changedBy(call))
    return copied.ok ? ok({ kind: 'json', value: { data: copied.value.map(secretAnswer) } }) : copied
  },
})
