import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { MappingPreviewAnswer, MappingPreviewQuery } from '../../../schemas/scim/group-mappings.ts'

/** Counts the members that a mapping would create, without creating it. Source: an extension of Sluice; C4. */
export const previewMapping = defineOperation({
  id: 'admin.preview_mapping',
  method: 'get',
  path: '/admin/mapping-preview',
  tag: 'admin',
  summary: 'Preview a group mapping',
  description:
    'Shows what `POST /scim/group-mappings` would do with these ids and this role; changes nothing.',
  input: { query: MappingPreviewQuery },
  success: { status: 200, body: MappingPreviewAnswer },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'scim_group_unknown', 'workspace_unknown', 'store_unavailable'],
  example: {
    query: {
      scim_group_id: '01985e3f-1a52-7c0d-8f4e-5b9d8a7c6e01',
      workspace_id: '01985e3e-90b1-7a44-a1c2-0d4f5e6a7b02',
      role: 'member',
    },
  },
  async run({ key: { organizationId }, query }, { groupMappings }) {
    const { scim_group_id: groupId, workspace_id: workspaceId, role } = query
    const found = await groupMappings.preview(organizationId, { groupId, workspaceId, role })
    if (!found.ok) return found
    const { joining, promoted, unchanged, inactive, isCut } = found.value
    return ok({ kind: 'json', value: { data: { joining, promoted, unchanged, inactive, is_cut: isCut } } })
  },
})
