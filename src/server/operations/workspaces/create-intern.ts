import { ok } from '../../../schemas/failures.ts'
import { CreateInternQuery, InternAnswer } from '../../../schemas/workspaces/interns.ts'
import { changedBy, defineOperation, ownWorkspaceOf } from '../define.ts'
import { INTERN_FAILURES, INTERN_STATUSES_LISTED, internAnswer } from './intern-access.ts'

/** Creates the record of an intern with a vault of its own. Source: B2.4, decisions C6, C16. */
export const createIntern = defineOperation({
  id: 'interns.create',
  method: 'post',
  path: '/interns',
  tag: 'interns',
  summary: 'Create an intern',
  description:
    'Stores a record only: `provision` has no effect and the status stays `stopped`. `workspace_id` in the body takes precedence over the query.',
  idempotent: true,
  input: { query: CreateInternQuery, body: 'intern_create' },
  success: { status: 201, body: InternAnswer },
  tellsReason: true,
  statuses: [...INTERN_STATUSES_LISTED, 413, 415],
  failures: ['quota_exceeded', 'workspace_unknown', 'vault_unknown', ...INTERN_FAILURES],
  example: { body: { name: 'Ada', provision: false, description: 'Reads the mail' } },
  async run(call, ports) {
    const { body } = call
    const made = await ports.interns.create(
      {
        organizationId: call.key.organizationId,
        workspace: body.workspace_id ?? call.query.workspace_id ?? ownWorkspaceOf(call.key),
        name: body.name,
        attachedVaultId: body.vault_id ?? null,
        description: body.description ?? null,
        instructions: body.instructions ?? null,
        wantsProvision: body.provision,
      },
      changedBy(call),
    )
    return made.ok ? ok({ kind: 'json', value: internAnswer(made.value) }) : made
  },
})
