import { h, type ComponentChild } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Model } from '../../../../schemas/models/models.ts'
import type { ProviderShape } from '../../../../schemas/models/providers.ts'
import type { RequestShape } from '../../../../schemas/requests/requests.ts'
import type { WorkspaceShape } from '../../../../schemas/workspaces/workspaces.ts'
import type { Api, Path, Query } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { hashOf } from '../page.ts'
import { listKeys } from '../parts/key-names.ts'
import { useLoaded } from '../parts/loaded.tsx'
import { useWorkspaces } from '../parts/workspaces.ts'
import { type Entry, isJobId, isRequestId, matching } from './entries.ts'

export interface PaletteProps {
  readonly api: Api
  /** Pages and actions, which are listed before anything is typed. */
  readonly fixed: readonly Entry[]
  onClose(): void
}

/** A search field to reach every page, action, key, model, provider, workspace and call with the keyboard alone. */
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
    // A pasted id may not be found yet, and a similar name may be listed meanwhile.
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
          {statusText(entries.length, found.isLoading)}
        </p>
      </div>
    </Dialog>
  )
}

const optionId = (list: string, nth: number): string => `${list}-${nth}`

interface OptionsProps {
  readonly id: string
  readonly entries: readonly Entry[]
  /** Index of the chosen entry. */
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

/** Ranks what the node found by an id first, since no other entry is closer to the typed text. */
function ranked(found: readonly Entry[], fixed: readonly Entry[], text: string): readonly Entry[] {
  const exact = found.filter(({ kind }) => kind === 'Request' || kind === 'Job')
  // Models are not filtered again: the node has searched them by its own rules.
  const models = found.filter(({ kind }) => kind === 'Model')
  const others = found.filter((entry) => !exact.includes(entry) && !models.includes(entry))
  return [...exact, ...matching([...fixed, ...others], text), ...models]
}

function statusText(entries: number, isLoading: boolean): string {
  if (isLoading) return 'Searching…'
  if (entries === 0) return 'No matches.'
  return `${entries} found. Use the arrow keys to select, Enter to open, and Escape to close.`
}

/** Delays Enter until a pasted id was found. */
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

/** Milliseconds without typing before the node is asked. */
const TYPING_MS = 150
/** Models that one search requests. */
const MODELS_SHOWN = 8
/** Characters of a hash that distinguish keys at a glance. */
const HASH_CHARS = 12

interface Found {
  readonly entries: readonly Entry[]
  /** True while the node searches for the typed text. */
  readonly isLoading: boolean
}

const go =
  (path: string, query: Readonly<Record<string, string>>): (() => void) =>
  () => {
    location.hash = hashOf(path, query)
  }

/** What the node finds by the typed name or id. */
function useFound(api: Api, typed: string): Found {
  const text = typed.trim()
  const settled = useSettled(text)
  const keys = useLoaded((signal) => listKeys(api, signal), [api])
  const workspaces = useWorkspaces(api).loaded
  const providers = useLoaded((signal) => rowsOf<ProviderShape>(api, ['providers'], {}, signal), [api])
  const asked = useLoaded((signal) => askedFor(api, settled, signal), [api, settled])
  // An answer to an earlier text is ignored.
  const isLate = asked.value?.text !== text
  const named = [
    ...(keys.value ?? []).map(keyEntry),
    ...(workspaces.value ?? []).map(workspaceEntry),
    ...(providers.value ?? []).map(providerEntry),
  ]
  const jobs = isJobId(text) ? [jobEntry(text)] : []
  return {
    entries: text === '' ? [] : [...jobs, ...(isLate ? [] : (asked.value?.entries ?? [])), ...named],
    isLoading: text !== '' && (isLate || keys.isLoading || workspaces.isLoading),
  }
}

/** The text once it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

interface Asked {
  readonly text: string
  readonly entries: readonly Entry[]
}

/** Finds models by words, and a call by its id. A search that fails returns nothing, without affecting the other. */
async function askedFor(api: Api, text: string, signal: AbortSignal): Promise<Asked> {
  if (text === '') return { text, entries: [] }
  const query = { q: text, output_modalities: 'all', limit: MODELS_SHOWN }
  const [calls, models] = await Promise.all([
    isRequestId(text)
      ? rowsOf<RequestShape>(api, ['admin', 'requests'], { request_id: text, limit: 1 }, signal).catch(
          () => [],
        )
      : [],
    rowsOf<Model>(api, ['models'], query, signal).catch(() => []),
  ])
  return { text, entries: [...calls.map(requestEntry), ...models.map(modelEntry)] }
}

async function rowsOf<Row>(api: Api, path: Path, query: Query, signal: AbortSignal): Promise<readonly Row[]> {
  return (await api.get<{ data: readonly Row[] }>(path, query, signal)).data
}

function requestEntry({ id, request_id: name, operation, status }: RequestShape): Entry {
  return {
    id: `request ${id}`,
    kind: 'Request',
    text: name,
    note: `${operation} ${status ?? ''}`,
    run: go('requests', { request_id: name, call: id }),
  }
}

const jobEntry = (id: string): Entry => ({ id, kind: 'Job', text: id, run: go('jobs', { job: id }) })

function keyEntry({ hash, name, kind, disabled }: ApiKey): Entry {
  const state = disabled ? ', disabled' : ''
  return {
    id: `key ${hash}`,
    kind: 'Key',
    text: name,
    note: `${kind}${state} ${hash.slice(0, HASH_CHARS)}`,
    hidden: hash,
    run: go('key', { id: hash }),
  }
}

const modelEntry = ({ id, name }: Model): Entry => ({
  id: `model ${id}`,
  kind: 'Model',
  text: name,
  note: id,
  run: go('model', { id }),
})

const workspaceEntry = ({ id, name, slug }: WorkspaceShape): Entry => ({
  id: `workspace ${id}`,
  kind: 'Workspace',
  text: name,
  note: slug,
  hidden: id,
  run: go('workspace', { id }),
})

const providerEntry = ({ slug, name }: ProviderShape): Entry => ({
  id: `provider ${slug}`,
  kind: 'Provider',
  text: name,
  note: slug,
  run: go('provider', { id: slug }),
})
