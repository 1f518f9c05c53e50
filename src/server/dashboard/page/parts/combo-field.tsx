import { h, type ComponentChild } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** Suggestions that are shown at most. */
const SHOWN_MAX = 12
/** Milliseconds without typing before a search begins. */
const TYPING_MS = 350

export interface Choice {
  readonly value: string
  readonly text: string
  /** Shown after the text, for choices with the same text. */
  readonly note?: string
}

export interface ComboFieldProps {
  readonly label: string
  /** The chosen or typed text of the current search. */
  readonly text: string
  readonly choices: readonly Choice[]
  readonly placeholder?: string
  /** True if incomplete texts are searched too, when typing pauses. */
  readonly takesParts?: boolean
  onChoose(choice: Choice): void
  /** Called with a text that is not a choice; empty: none. */
  onText(text: string): void
}

/** A field with suggestions that also accepts other texts. */
export function ComboField(props: ComboFieldProps): ComponentChild {
  const { label, choices, placeholder } = props
  const id = useId()
  const [typed, setTyped] = useTyped(props)
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  // If the field holds a choice, all choices are listed, so that it can be replaced.
  const isChosen = typed === props.text && choices.some((choice) => isCalled(choice, typed))
  const shown = isOpen ? matching(choices, isChosen ? '' : typed) : []
  const close = (): void => {
    setOpen(false)
    setAt(-1)
  }
  const choose = (choice: Choice): void => {
    setTyped(choice.text)
    close()
    props.onChoose(choice)
  }
  const take = (): void => {
    close()
    if (typed.trim() !== props.text) commit(props, typed)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const chosen = shown[at]
    if (step !== undefined) {
      event.preventDefault()
      setOpen(true)
      setAt(Math.max(-1, Math.min(shown.length - 1, at + step)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (chosen === undefined) take()
      else choose(chosen)
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation()
      close()
    }
  }
  const onInput = (event: Event): void => {
    const { value } = event.currentTarget as HTMLInputElement
    setTyped(value)
    setAt(-1)
    setOpen(value !== '')
  }
  return (
    <div class="field combo">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        role="combobox"
        list={undefined}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        placeholder={placeholder}
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown[at] === undefined ? undefined : `${id}-${at}`}
        onInput={onInput}
        onClick={() => setOpen(true)}
        onBlur={take}
        onKeyDown={onKeyDown}
      />
      <Suggestions id={id} shown={shown} at={at} choose={choose} />
    </div>
  )
}

interface SuggestionsProps {
  readonly id: string
  readonly shown: readonly Choice[]
  /** Index of the marked suggestion; -1: none. */
  readonly at: number
  choose(choice: Choice): void
}

function Suggestions({ id, shown, at, choose }: SuggestionsProps): ComponentChild {
  return (
    <ul id={`${id}-list`} role="listbox" aria-label="Suggestions" hidden={shown.length === 0}>
      {shown.map((choice, nth) => (
        <li
          key={choice.value}
          id={`${id}-${nth}`}
          role="option"
          aria-selected={nth === at}
          onMouseDown={(event: Event) => event.preventDefault()}
          onClick={() => choose(choice)}
        >
          <span>{choice.text}</span>
          {choice.note !== undefined && <small>{choice.note}</small>}
        </li>
      ))}
    </ul>
  )
}

/** The text in the field; it follows changes from elsewhere. */
function useTyped(props: ComboFieldProps): readonly [string, (text: string) => void] {
  const { text, takesParts = false } = props
  const [typed, setTyped] = useState(text)
  const last = useRef(text)
  useEffect(() => {
    if (text !== last.current) setTyped(text)
    last.current = text
  }, [text])
  useEffect(() => {
    const isWhole = typed === '' || props.choices.some((choice) => isCalled(choice, typed))
    if (typed.trim() === last.current || !(takesParts || isWhole)) return undefined
    const timer = setTimeout(() => {
      last.current = typed.trim()
      commit(props, typed)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return [typed, setTyped]
}

function commit({ choices, onChoose, onText }: ComboFieldProps, typed: string): void {
  const text = typed.trim()
  const choice = choices.find((one) => isCalled(one, text))
  if (choice === undefined || text === '') onText(text)
  else onChoose(choice)
}

const isCalled = ({ value, text }: Choice, typed: string): boolean => [value, text].includes(typed.trim())

/** Matching choices; those that begin with the text come first. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const text = typed.trim().toLowerCase()
  const rankOf = ({ value, text: name, note = '' }: Choice): number =>
    name.toLowerCase().startsWith(text) ? 0 : `${name} ${value} ${note}`.toLowerCase().includes(text) ? 1 : 2
  return [0, 1].flatMap((rank) => choices.filter((one) => rankOf(one) === rank)).slice(0, SHOWN_MAX)
}
