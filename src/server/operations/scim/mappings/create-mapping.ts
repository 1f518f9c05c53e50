import { ok } from '../../../../schemas/failures.ts'
import { MappingAnswer } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { directoryActorOf, mappingAnswer } from './mapping-answers.ts'

/** Maps a group to a workspace. Source: B2.5, decisions C6, C16. */
export const createMapping = defineOperation({
  id: 'scim.create_mapping',
  method: 'post',
  path: '/scim/group-mappings',
  tag: 'group-mappings',
  summary: 'Map a group to a workspace',
  description:
    'Active members of the group become members of the workspace with this role. Repeating the call with the same ' +
    'role returns the existing mapping; another role is refused.',
  idempotent: true,
  input: { body: 'create_mapping' },
  success: { status: 201, body: MappingAnswer },
  statuses: [400, 404, 409, 500],
  failures: ['scim_group_unknown', 'workspace_unknown', 'mapping_role_differs', 'store_unavailable'],
  example: {
    body: {
      role: 'member',
      scim_group_id: '01985e3f-1a52-7c0d-8f4e-5b9d8a7c6e01',
      workspace_id: '01985e3e-90b1-7a44-a1c2-0d4f5e6a7b02',
    },
  },
  async run(call, ports) {
    const { scim_group_id: groupId, workspace_id: workspaceId, role } = call.body
    const made = await ports.groupMappings.create({ groupId, workspaceId, role }, directoryActorOf(call))
    return made.ok ? ok({ kind: 'json', value: { data: mappingAnswer(made.value) } }) : made
  },
})
