import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { MappingShape } from '../../../../../schemas/scim/group-mappings.ts'
import type { MemberRole, MemberShape } from '../../../../../schemas/workspaces/workspaces.ts'
import type { Api } from '../../api.ts'
import { hashOf, type PageContext } from '../../page.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { count, Time } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { listAll } from '../../parts/workspaces.ts'

/** Members of a workspace that a preview reads. */
const MEMBERS_MAX = 2_000

export interface Names {
  group(id: string): string
  workspace(id: string): string
  /** The text for a membership that comes from a mapping. */
  mapping(id: string): string
}

interface MappingDialogProps {
  readonly context: PageContext
  readonly mapping: MappingShape
  readonly names: Names
  onChange(): void
  onClose(): void
}

/** A mapping: its members, their other grants, and the effect of a change on each. */
export function MappingDialog({
  context,
  mapping,
  names,
  onChange,
  onClose,
}: MappingDialogProps): ComponentChild {
  const { api, say } = context
  const { id, role, workspace_id: workspace, scim_group_id: group } = mapping
  const [change, setChange] = useState<MappingChange | null>(null)
  const [isAsking, setAsking] = useState(false)
  const members = useLoaded(
    (signal) => listAll<MemberShape>(api, ['workspaces', workspace, 'members'], MEMBERS_MAX, signal),
    [api, workspace, role],
  )
  const { value } = members
  const previewed = previewOf(id, value ?? [], change)
  const done = (): void => {
    say(`Mapping of ${names.group(group)} ${change !== null && isEnd(change) ? 'deleted' : 'saved'}.`)
    onChange()
    onClose()
  }
  return (
    <Dialog title={`${names.group(group)} in ${names.workspace(workspace)}`} isWide onClose={onClose}>
      <div class="body">
        <Facts
          facts={[
            ['Role', role],
            ['Created', <Time at={mapping.created_at} />],
            ['Audit', <a href={hashOf('audit', { object_id: id })}>Change history</a>],
          ]}
        />
        <div class="head">
          <SelectField
            label="What if"
            value={change ?? ''}
            options={changesOf(role)}
            onInput={(value) => setChange(value === '' ? null : (value as MappingChange))}
          />
          {change !== null && value !== undefined && (
            <button type="button" onClick={() => setAsking(true)}>
              Apply…
            </button>
          )}
        </div>
        <Awaited {...members} />
        {value !== undefined && members.problem === null && (
          <Preview
            previewed={previewed}
            names={names}
            isChange={change !== null}
            isCut={value.length >= MEMBERS_MAX}
          />
        )}
      </div>
      {isAsking && change !== null && (
        <Confirm
          title={`${WORDS[change]}?`}
          text={sumOf(previewed)}
          action={isEnd(change) ? 'Delete mapping' : 'Change role'}
          isDestructive={change === 'end'}
          run={() => send(api, id, change).then(done)}
          onClose={() => setAsking(false)}
        />
      )}
    </Dialog>
  )
}

const isEnd = (change: MappingChange): change is 'end' | 'keep' => change === 'end' || change === 'keep'

function send(api: Api, id: string, change: MappingChange): Promise<unknown> {
  const path = ['scim', 'group-mappings', id]
  return isEnd(change)
    ? api.send('DELETE', path, undefined, { query: { keep_members: change === 'keep' } })
    : api.send('PATCH', path, { role: change })
}

const WORDS: Readonly<Record<MappingChange, string>> = {
  admin: 'Grant the admin role',
  member: 'Grant the member role',
  end: 'Delete mapping and remove its members',
  keep: 'Delete mapping but keep its members',
}

function changesOf(role: MappingShape['role']): readonly (readonly [string, string])[] {
  const changes = (['admin', 'member', 'end', 'keep'] as const).filter((change) => change !== role)
  return [['', 'nothing changes'], ...changes.map((change) => [change, WORDS[change].toLowerCase()] as const)]
}

interface PreviewProps {
  readonly previewed: readonly Previewed[]
  readonly names: Names
  readonly isChange: boolean
  readonly isCut: boolean
}

function Preview({ previewed, names, isChange, isCut }: PreviewProps): ComponentChild {
  return (
    <div class="stack">
      <p role="status">
        {isChange ? sumOf(previewed) : `Members through this mapping: ${count(previewed.length)}.`}
        {isCut && ` Only the first ${count(MEMBERS_MAX)} members of the workspace were checked.`}
      </p>
      <DataTable<Previewed>
        caption="Members through this mapping"
        columns={columnsOf(names, isChange)}
        rows={previewed}
        keyOf={({ member }) => member.user_id}
        empty="No members: the group has no active members, or its members are still being added."
      />
    </div>
  )
}

function columnsOf(names: Names, isChange: boolean): readonly Column<Previewed>[] {
  const effect: Column<Previewed> = {
    title: 'Effect',
    sortBy: (row) => row.effect,
    cell: (row) => row.effect,
  }
  return [
    {
      title: 'User',
      isName: true,
      cell: ({ member }) => member.user_name,
      sortBy: ({ member }) => member.user_name,
    },
    { title: 'Role', cell: ({ member }) => member.role },
    ...(isChange ? [effect] : []),
    {
      title: 'Member by',
      isText: true,
      cell: ({ member }) =>
        member.grants.map(({ source, mapping_id: mapping, role, created_at: at }, nth) => (
          <span class="line hint" key={nth}>
            {`${source === 'manual' || mapping === null ? 'by hand' : names.mapping(mapping)}: ${role}, `}
            <Time at={at} />
          </span>
        )),
    },
  ]
}

/** A change of a mapping: another role for its members, or its removal, with or without its members. */
type MappingChange = 'admin' | 'member' | 'end' | 'keep'
type Effect = 'leaves' | 'becomes admin' | 'becomes member' | 'stays'

type Grants = MemberShape['grants']

interface Previewed {
  readonly member: MemberShape
  readonly effect: Effect
}

function membersBy(mappingId: string, members: readonly MemberShape[]): readonly MemberShape[] {
  return members.filter(({ grants }) => grants.some((grant) => grant.mapping_id === mappingId))
}

/** The effects of a change of a mapping on its members: a member with several grants has the strongest role. */
export function previewOf(
  mappingId: string,
  members: readonly MemberShape[],
  change: MappingChange | null,
): readonly Previewed[] {
  return membersBy(mappingId, members).map((member) => {
    const after = strongest(changed(member.grants, mappingId, change))
    if (after === null) return { member, effect: 'leaves' }
    return { member, effect: after === member.role ? 'stays' : `becomes ${after}` }
  })
}

function changed(grants: Grants, mappingId: string, change: MappingChange | null): Grants {
  // Members that are kept get the same role as a manual grant.
  if (change === null || change === 'keep') return grants
  if (change === 'end') return grants.filter((grant) => grant.mapping_id !== mappingId)
  return grants.map((grant) => (grant.mapping_id === mappingId ? { ...grant, role: change } : grant))
}

function strongest(grants: Grants): MemberRole | null {
  if (grants.length === 0) return null
  return grants.some(({ role }) => role === 'admin') ? 'admin' : 'member'
}

const ORDER: readonly Effect[] = ['leaves', 'becomes admin', 'becomes member', 'stays']
const MANY: Readonly<Record<Effect, string>> = {
  leaves: 'leave the workspace',
  'becomes admin': 'become admin',
  'becomes member': 'become member',
  stays: 'stay unchanged',
}

/** Sums the effects: `2 leave the workspace, 1 stays as it is.` */
export function sumOf(previewed: readonly Previewed[]): string {
  const parts = ORDER.flatMap((effect) => {
    const found = previewed.filter((one) => one.effect === effect).length
    return found === 0 ? [] : [`${found} ${MANY[effect]}`]
  })
  return parts.length === 0
    ? 'This mapping adds no members.'
    : `Of ${previewed.length} members: ${parts.join(', ')}.`
}
