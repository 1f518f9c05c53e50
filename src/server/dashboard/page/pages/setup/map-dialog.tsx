import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { DirectoryGroupShape } from '../../../../../schemas/scim/group-mappings.ts'
import type { MappingPreviewShape } from '../../../../../schemas/scim/mapping-preview.ts'
import type { PageContext } from '../../page.ts'
import { Dialog, useAction } from '../../parts/dialog.tsx'
import { errorAbout, Form, SelectField } from '../../parts/fields.tsx'
import { count } from '../../parts/figures.tsx'
import { useLoaded } from '../../parts/loaded.tsx'
import type { Workspaces } from '../../parts/workspaces.ts'

interface MapDialogProps {
  readonly context: PageContext
  readonly groups: readonly DirectoryGroupShape[]
  readonly workspaces: Workspaces
  onDone(): void
  onClose(): void
}

const ROLES = [
  ['member', 'member'],
  ['admin', 'admin'],
] as const

/** Gives the members of a group a role in a workspace. */
export function MapDialog({ context, groups, workspaces, onDone, onClose }: MapDialogProps): ComponentChild {
  const { api, say } = context
  const [group, setGroup] = useState(groups[0]?.id ?? '')
  const [chosen, setWorkspace] = useState('')
  const [role, setRole] = useState('member')
  const options = workspaces.options()
  const workspace = chosen === '' ? (options[0]?.[0] ?? '') : chosen
  const preview = useLoaded(
    async (signal) => {
      const query = { scim_group_id: group, workspace_id: workspace, role }
      return (await api.get<{ data: MappingPreviewShape }>(['admin', 'mapping-preview'], query, signal)).data
    },
    [api, group, workspace, role],
  )
  const { isBusy, problem, start } = useAction(async () => {
    await api.send('POST', ['scim', 'group-mappings'], {
      scim_group_id: group,
      workspace_id: workspace,
      role,
    })
    say('Group mapped. Active group members are now members of the workspace.')
    onClose()
  }, onDone)
  return (
    <Dialog title="Map group" onClose={onClose}>
      <Form action="Map" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        <SelectField
          label="Group"
          value={group}
          options={groups.map(({ id, display_name: name }) => [id, name] as const)}
          onInput={setGroup}
          error={errorAbout(problem, 'scim_group_id')}
          hasFocus
        />
        <SelectField label="Workspace" value={workspace} options={options} onInput={setWorkspace} />
        <SelectField label="Role" value={role} options={ROLES} onInput={setRole} />
        <p class="hint" role="status">
          {preview.problem ?? (preview.value === undefined ? 'Counting…' : sentenceOf(preview.value, role))}
        </p>
      </Form>
    </Dialog>
  )
}

/** What the mapping would do, said before it is made. */
function sentenceOf(preview: MappingPreviewShape, role: string): string {
  const { joining, promoted, unchanged, inactive, is_cut: isCut } = preview
  const parts = [
    `${count(joining)} ${joining === 1 ? 'user joins' : 'users join'} with the role ${role}`,
    promoted > 0 && `${count(promoted)} members become admin`,
    unchanged > 0 && `${count(unchanged)} stay unchanged`,
    inactive > 0 && `${count(inactive)} are inactive and do not get a role`,
  ].filter((part) => part !== false)
  return `${isCut ? 'At least: ' : 'Effect now: '}${parts.join(', ')}.`
}
