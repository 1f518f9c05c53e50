import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../../schemas/keys/keys.ts'
import type { PageContext } from '../../page.ts'
import { Confirm } from '../../parts/dialog.tsx'
import type { Workspaces } from '../../parts/workspaces.ts'
import { KeyDialog, RotateDialog } from '../key-dialogs.tsx'

type Deed = 'change' | 'rotate' | 'disable' | 'enable' | 'delete'
interface Doing {
  readonly deed: Deed
  readonly apiKey: ApiKey
}

export interface KeyDeedsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly apiKey: ApiKey
  onDone(): void
  onDeleted(): void
}

/** What can be done with a key; what ends its calls is quiet, and asked for. */
export function KeyDeeds({ apiKey, ...props }: KeyDeedsProps): ComponentChild {
  const [deed, setDeed] = useState<Deed | null>(null)
  return (
    <div class="actions">
      {deedsOf(apiKey).map(([one, text]) => (
        <button
          key={one}
          type="button"
          class={one === 'disable' || one === 'delete' ? 'quiet' : undefined}
          onClick={() => setDeed(one)}
        >
          {text}
        </button>
      ))}
      {deed !== null && <Asked {...props} doing={{ deed, apiKey }} onClose={() => setDeed(null)} />}
    </div>
  )
}

function deedsOf({ disabled, kind }: ApiKey): readonly (readonly [Deed, string])[] {
  const turn = disabled ? (['enable', 'Enable'] as const) : (['disable', 'Disable'] as const)
  // An intern's key comes and goes with the intern.
  return kind === 'intern' ? [turn] : [['change', 'Edit'], ['rotate', 'Rotate'], turn, ['delete', 'Delete']]
}

interface DeedsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly doing: Doing
  onDone(): void
  onDeleted(): void
  onClose(): void
}

/** The dialog for a change of a key. */
function Asked({
  context,
  workspaces,
  doing: { deed, apiKey: key },
  onDone,
  onDeleted,
  onClose,
}: DeedsProps): ComponentChild {
  const { api, say } = context
  const done = (text: string) => (): void => (say(text), onDone())
  const path = ['keys', key.hash]
  const own = key.hash === context.session.key.hash && (
    <p class="notice warn">You are signed in with this key.</p>
  )
  switch (deed) {
    case 'change':
      return (
        <KeyDialog
          context={context}
          workspaces={workspaces}
          changed={key}
          onDone={onDone}
          onClose={onClose}
        />
      )
    case 'rotate':
      return <RotateDialog context={context} apiKey={key} onDone={onDone} onClose={onClose} />
    case 'enable':
      return (
        <Confirm
          title={`Enable ${key.name}?`}
          text="Calls with this key work again."
          action="Enable"
          onClose={onClose}
          run={() => api.send('PATCH', path, { disabled: false }).then(done(`${key.name} enabled.`))}
        />
      )
    case 'disable':
      return (
        <Confirm
          title={`Disable ${key.name}?`}
          text={[own, <p key="what">Calls with this key are refused until the key is enabled again.</p>]}
          action="Disable"
          isDestructive
          onClose={onClose}
          run={() => api.send('PATCH', path, { disabled: true }).then(done(`${key.name} disabled.`))}
        />
      )
    case 'delete':
      return (
        <Confirm
          title={`Delete ${key.name}?`}
          text={[
            own,
            <p key="what">Calls with this key are refused permanently. The key's spend stays on record.</p>,
          ]}
          action="Delete key"
          isDestructive
          onClose={onClose}
          run={() => api.send('DELETE', path).then(() => (say(`${key.name} deleted.`), onDeleted()))}
        />
      )
  }
}
