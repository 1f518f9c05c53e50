import { h, type ComponentChild } from 'preact'
import { useRef, useState } from 'preact/hooks'

export interface CopyBoxProps {
  readonly label: string
  readonly text: string
  /** True for a command, whose lines are not wrapped. */
  readonly isCode?: boolean
  readonly hasFocus?: boolean
}

/** A text with a button that copies it. */
export function CopyBox({ label, text, isCode = false, hasFocus = false }: CopyBoxProps): ComponentChild {
  const [note, setNote] = useState('')
  const input = useRef<HTMLTextAreaElement | null>(null)
  const select = (): void => input.current?.select()
  // The clipboard is only available to a page loaded over TLS or from this machine.
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
