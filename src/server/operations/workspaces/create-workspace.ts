import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { ok } from '../../../schemas/failures.ts'
import { WorkspaceAnswer } from '../../../schemas/workspaces/workspaces.ts'
import { actorOf, defineOperation } from '../define.ts'
import { changesOf, targetOf, workspaceAnswer } from './workspace-answers.ts'

/** Creates a workspace. Source: B2.9, decisions C6, C16. */
export const createWorkspace = defineOperation({
  id: 'workspaces.create',
  method: 'post',
  path: '/workspaces',
  tag: 'workspaces',
  summary: 'Create a workspace',
  description:
    'Default models, sorting, observability and disabled tools are stored and returned, but have no effect.',
  idempotent: true,
  input: { body: 'workspace_create' },
  success: { status: 201, body: WorkspaceAnswer },
  statuses: [400, 403, 500],
  failures: ['operator_only', 'quota_exceeded', 'slug_taken', 'callback_url_invalid', 'store_unavailable'],
  example: {
    body: {
      name: 'Research',
      slug: 'research',
      description: 'Everything that is not in production',
      storage_quota_bytes: 1_073_741_824,
    },
  },
  async run(call, ports) {
    const { key, body } = call
    const target = await targetOf(body, call, ports)
    if (!target.ok) return target
    const checked = await checkCallbackUrl(body.default_callback_url, {
      path: '/default_callback_url',
      gate: ports.egress,
      holder: key.organizationId,
    })
    if (!checked.ok) return checked
    const request = {
      organizationId: key.organizationId,
      name: body.name,
      slug: body.slug,
      ...changesOf(body),
    }
    const made = await ports.workspaces.create(request, actorOf(call))
    return made.ok ? ok({ kind: 'json', value: { data: workspaceAnswer(made.value) } }) : made
  },
})
