import { h, type ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { SelectField, TextField } from './fields.tsx'
import type { Workspaces } from './workspaces.ts'

/** Milliseconds without typing before a search begins. */
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
      // Trimmed like the value that will be passed back, so that the field keeps a space after a word while
      // the user types.
      synced.current = text.trim()
      onSearch(synced.current)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return <TextField {...field} type="search" value={text} onInput={setText} />
}

/** A filter for all workspaces or one of them; a deleted workspace can still be selected by its id. */
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
