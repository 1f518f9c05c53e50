import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import { messageOf } from '../api.ts'
import type { PageContext } from '../page.ts'
import type { Column } from '../parts/data-table.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { count } from '../parts/figures.tsx'

export interface Selection {
  readonly hashes: ReadonlySet<string>
  set(hashes: ReadonlySet<string>): void
}

/** A box in each row; the key of the session and disabled keys have none. */
export function selectColumn(
  { hashes, set }: Selection,
  { nameOf, ownHash }: { nameOf(hash: string): string; readonly ownHash: string },
): Column<ApiKey> {
  const turn = (hash: string): void => {
    const next = new Set(hashes)
    if (!next.delete(hash)) next.add(hash)
    set(next)
  }
  return {
    title: 'Select',
    cell: ({ hash, disabled }) =>
      hash !== ownHash &&
      !disabled && (
        <input
          type="checkbox"
          aria-label={`Select ${nameOf(hash)}`}
          checked={hashes.has(hash)}
          onChange={() => turn(hash)}
        />
      ),
  }
}

interface DisableProps {
  readonly context: PageContext
  readonly selection: Selection
  /** Keys of the list. */
  readonly keys: readonly ApiKey[]
  onDone(): void
}

/** Disables the selected keys of the list, after a question. */
export function DisableSelected({ context, selection, keys, onDone }: DisableProps): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const chosen = keys.filter(({ hash }) => selection.hashes.has(hash))
  if (chosen.length === 0) return null
  const many = chosen.length === 1 ? '1 key' : `${count(chosen.length)} keys`
  const run = async (): Promise<void> => {
    try {
      for (const [nth, { hash, name }] of chosen.entries())
        await disable(context, hash).catch((problem: unknown) => {
          throw new Error(`${count(nth)} of ${many} disabled. ${name}: ${messageOf(problem)}`)
        })
      context.say(`${many} disabled.`)
      selection.set(new Set())
    } finally {
      onDone()
    }
  }
  return (
    <div class="actions">
      <button type="button" onClick={() => setAsking(true)}>
        {`Disable ${many}`}
      </button>
      {isAsking && (
        <Confirm
          title={`Disable ${many}?`}
          text={[
            <p key="what">Calls with these keys are refused until the keys are enabled again.</p>,
            <ul key="names">
              {chosen.map(({ hash, name }) => (
                <li key={hash}>{name}</li>
              ))}
            </ul>,
          ]}
          action={`Disable ${many}`}
          isDestructive
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

function disable({ api }: PageContext, hash: string): Promise<unknown> {
  return api.send('PATCH', ['keys', hash], { disabled: true })
}
