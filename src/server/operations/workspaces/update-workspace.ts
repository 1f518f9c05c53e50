import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { OrganizationQuery } from '../../../schemas/operator/caps.ts'
import { ok } from '../../../schemas/failures.ts'
import { WorkspaceAnswer, WorkspaceParams } from '../../../schemas/workspaces/workspaces.ts'
import { actorOf, defineOperation } from '../define.ts'
import { namedOrganization } from '../named-organization.ts'
import {
  changesOf,
  EXAMPLE_WORKSPACE,
  refOf,
  WORKSPACE_FAILURES,
  targetOf,
  WORKSPACE_STATUSES,
  workspaceAnswer,
} from './workspace-answers.ts'

/** Changes a workspace. Source: B2.9. */
export const updateWorkspace = defineOperation({
  id: 'workspaces.update',
  method: 'patch',
  path: '/workspaces/{id}',
  tag: 'workspaces',
  summary: 'Update a workspace',
  description:
    'Absent members keep their values. Changing the slug frees the old slug at once. `storage_quota_bytes`, ' +
    "`programme` and `vault_writes` can be set only with keys of the operator's organization; these keys may name another " +
    'organization in `organization_id`.',
  input: { params: WorkspaceParams, query: OrganizationQuery, body: 'workspace_update' },
  success: { status: 200, body: WorkspaceAnswer },
  statuses: WORKSPACE_STATUSES,
  failures: [
    'operator_only',
    'organization_unknown',
    'body_invalid',
    'query_invalid',
    'slug_taken',
    'callback_url_invalid',
    ...WORKSPACE_FAILURES,
  ],
  example: { params: { id: EXAMPLE_WORKSPACE }, query: {}, body: { name: 'Research', vault_writes: false } },
  async run(call, ports) {
    const { name, slug } = call.body
    const named = namedOrganization(call.query, call.body)
    if (!named.ok) return named
    const target = await targetOf(
      { ...call.body, ...(named.value !== undefined && { organization_id: named.value }) },
      call,
      ports,
    )
    if (!target.ok) return target
    const ref = { ...refOf(call), organizationId: target.value }
    const changes = {
      ...(name !== undefined && { name }),
      ...(slug !== undefined && { slug }),
      ...changesOf(call.body),
    }
    const checked = await checkCallbackUrl(changes.defaultCallbackUrl, {
      path: '/default_callback_url',
      gate: ports.egress,
      holder: call.key.organizationId,
    })
    if (!checked.ok) return checked
    const isNothing = Object.keys(changes).length === 0
    const changed = await (isNothing
      ? ports.workspaces.get(ref)
      : ports.workspaces.update(ref, changes, actorOf(call)))
    return changed.ok ? ok({ kind: 'json', value: { data: workspaceAnswer(changed.value) } }) : changed
  },
})
