import { h, type ComponentChild } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Api } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { isRequestId, matching, type Entry } from './entries.ts'
import { useFound } from './found.ts'

export interface PaletteProps {
  readonly api: Api
  /** Pages and actions: they are there before anything is typed. */
  readonly fixed: readonly Entry[]
  onClose(): void
}

/** One field that leads to every page, action, key, model, provider, workspace and call, by the keyboard alone. */
export function Palette({ api, fixed, onClose }: PaletteProps): ComponentChild {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const id = useId()
  const found = useFound(api, text)
  const entries = text.trim() === '' ? fixed : ranked(found.entries, fixed, text)
  const at = Math.max(
    0,
    entries.findIndex((entry) => entry.id === chosen),
  )
  const current = entries[at]
  const run = (entry: Entry): void => {
    onClose()
    entry.run()
  }
  const waiting = useWaitingEnter(found.isLoading, () => current !== undefined && run(current))
  const move = (step: number): void =>
    setChosen(entries[(at + step + entries.length) % Math.max(1, entries.length)]?.id ?? null)
  const deeds: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    // What was pasted is not found yet: a near name may stand there meanwhile.
    Enter: () => waiting.press(chosen === null && (current === undefined || isRequestId(text.trim()))),
  }
  const press = (event: KeyboardEvent): void => {
    const deed = deeds[event.key]
    if (deed === undefined || event.isComposing) return
    event.preventDefault()
    deed()
  }
  const type = (event: Event): void => {
    waiting.forget()
    setChosen(null)
    setText((event.currentTarget as HTMLInputElement).value)
  }
  return (
    <Dialog title="Commands" onClose={onClose}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          autofocus
          autocomplete="off"
          spellcheck={false}
          placeholder="Page, action, key, model, provider, workspace or request id"
          aria-label="Page, action, key, model, provider, workspace or request id"
          aria-expanded={entries.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current === undefined ? undefined : optionId(id, at)}
          value={text}
          onInput={type}
          onKeyDown={press}
        />
        <Options id={id} entries={entries} at={at} run={run} />
        <p class="hint" role="status">
          {saidOf(entries.length, found.isLoading)}
        </p>
      </div>
    </Dialog>
  )
}

const optionId = (list: string, nth: number): string => `${list}-${nth}`

interface OptionsProps {
  readonly id: string
  readonly entries: readonly Entry[]
  /** Place of the one that is chosen. */
  readonly at: number
  run(entry: Entry): void
}

function Options({ id, entries, at, run }: OptionsProps): ComponentChild {
  useEffect(() => {
    document.getElementById(optionId(id, at))?.scrollIntoView({ block: 'nearest' })
  })
  return (
    <ul id={id} role="listbox" aria-label="Commands" hidden={entries.length === 0}>
      {entries.map((entry, nth) => (
        <li
          key={entry.id}
          id={optionId(id, nth)}
          role="option"
          aria-selected={nth === at}
          onClick={() => run(entry)}
        >
          <span>{entry.text}</span>
          <small>{entry.note}</small>
          <small class="badge">{entry.kind}</small>
        </li>
      ))}
    </ul>
  )
}

/** What the node found by an id comes first: nothing is nearer to what was typed. */
function ranked(found: readonly Entry[], fixed: readonly Entry[], text: string): readonly Entry[] {
  const exact = found.filter(({ kind }) => kind === 'Request' || kind === 'Job')
  // The node has searched models by its own rules.
  const models = found.filter(({ kind }) => kind === 'Model')
  const others = found.filter((entry) => !exact.includes(entry) && !models.includes(entry))
  return [...exact, ...matching([...fixed, ...others], text), ...models]
}

function saidOf(entries: number, isLoading: boolean): string {
  if (isLoading) return 'Searching…'
  if (entries === 0) return 'No matches.'
  return `${entries} found. Use the arrow keys to select, Enter to open, and Escape to close.`
}

/** Enter that comes before what was pasted is found waits for it. */
function useWaitingEnter(
  isLoading: boolean,
  run: () => void,
): { press(mayWait: boolean): void; forget(): void } {
  const isWaiting = useRef(false)
  useEffect(() => {
    if (isLoading || !isWaiting.current) return
    isWaiting.current = false
    run()
  }, [isLoading])
  return {
    press: (mayWait) => {
      if (isLoading && mayWait) isWaiting.current = true
      else run()
    },
    forget: () => void (isWaiting.current = false),
  }
}
