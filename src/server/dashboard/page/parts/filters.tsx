import { h, type ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { SelectField, TextField } from './fields.tsx'
import type { Workspaces } from './workspaces.ts'

/** Milliseconds after the last letter in which nothing is searched yet. */
const TYPING_MS = 350

export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  onSearch(value: string): void
  readonly placeholder?: string
  readonly maxLength?: number
}

/** A field that searches when typing pauses. The field shows a value that is set elsewhere. */
export function SearchField({ value, onSearch, ...field }: SearchFieldProps): ComponentChild {
  const [text, setText] = useState(value)
  const synced = useRef(value)
  useEffect(() => {
    if (value === synced.current) return
    synced.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === synced.current) return undefined
    const timer = setTimeout(() => {
      // As the value comes back: the field keeps the space after a word while typing goes on.
      synced.current = text.trim()
      onSearch(synced.current)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return <TextField {...field} type="search" value={text} onInput={setText} />
}

/** All workspaces, or one of them; one that is no longer there can still be asked for by its id. */
export function WorkspaceFilter({
  workspaces,
  value,
  onChoose,
}: {
  readonly workspaces: Workspaces
  readonly value: string
  onChoose(value: string): void
}): ComponentChild {
  const known = workspaces.options('All')
  const options = known.some(([id]) => id === value)
    ? known
    : [...known, [value, workspaces.nameOf(value)] as const]
  return <SelectField label="Workspace" value={value} options={options} onInput={onChoose} />
}
