import { h, type ComponentChild } from 'preact'
import { useRef, useState } from 'preact/hooks'

export interface CopyBoxProps {
  readonly label: string
  readonly text: string
  /** Lines are not broken: a command. */
  readonly isCode?: boolean
  readonly hasFocus?: boolean
}

/** A text to be taken elsewhere, with a button that copies it. */
export function CopyBox({ label, text, isCode = false, hasFocus = false }: CopyBoxProps): ComponentChild {
  const [note, setNote] = useState('')
  const input = useRef<HTMLTextAreaElement | null>(null)
  const select = (): void => input.current?.select()
  // A page that did not come over TLS, or from this machine, has no clipboard.
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setNote('Copied.')
    } catch {
      select()
      setNote('The browser does not allow copying. The text is selected: copy it yourself.')
    }
  }
  return (
    <div class={isCode ? 'copy code' : 'copy'}>
      <textarea
        ref={input}
        rows={isCode ? text.split('\n').length : 3}
        readOnly
        value={text}
        aria-label={label}
        onFocus={select}
        spellcheck={false}
      />
      <button type="button" class="primary" autofocus={hasFocus} title={label} onClick={() => void copy()}>
        Copy
      </button>
      <p class="hint" role="status">
        {note}
      </p>
    </div>
  )
}
