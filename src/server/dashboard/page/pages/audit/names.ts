import type { PageContext } from '../../page.ts'
import { useKeyNames, type KeyNames } from '../../parts/key-names.ts'
import { useWorkspaces, type Workspaces } from '../../parts/workspaces.ts'
import type { AuditEvent } from '../../parts/badge.tsx'

const ID_CHARS = 8
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/

/** Names of the objects of events. */
export interface AuditNames {
  readonly keys: KeyNames
  readonly workspaces: Workspaces
  actor(event: AuditEvent): string
  object(event: AuditEvent): string
  workspace(id: string): string
}

export function useAuditNames(context: PageContext): AuditNames {
  const keys = useKeyNames(context)
  const workspaces = useWorkspaces(context.api)
  return {
    keys,
    workspaces,
    workspace: workspaces.nameOf,
    actor: ({ actor: { kind, id } }) =>
      id === null
        ? kind
        : kind === 'key'
          ? keys.nameOf(id)
          : kind === 'scim_token'
            ? `${kind} ${shortId(id)}`
            : id,
    object: (event) => {
      const { object_kind: kind, object_id: id } = event
      const recorded = nameIn(event.after) ?? nameIn(event.before)
      if (kind === 'key') return keys.nameOf(id, recorded)
      if (recorded !== null) return recorded
      return kind === 'workspace' ? workspaces.nameOf(id) : shortId(id)
    },
  }
}

/** The name in the recorded state of an object; null: no name. */
export function nameIn(recorded: unknown): string | null {
  if (typeof recorded !== 'object' || recorded === null) return null
  for (const member of ['name', 'slug', 'user_name', 'display_name', 'email', 'reset_interval', 'id']) {
    const value = (recorded as Readonly<Record<string, unknown>>)[member]
    if (typeof value === 'string' && value !== '' && !UUID.test(value)) return value
  }
  return null
}

/** Names are shown in full; ids are cut to their first characters. */
function shortId(id: string): string {
  return UUID.test(id) || /^[0-9a-f]{64}$/.test(id) ? `${id.slice(0, ID_CHARS)}…` : id
}
