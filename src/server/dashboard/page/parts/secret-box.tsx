import { h, type ComponentChild } from 'preact'
import { useRef, useState } from 'preact/hooks'

/** A text that is shown this once, with a button that copies it. */
export function SecretBox({
  label,
  text,
}: {
  readonly label: string
  readonly text: string
}): ComponentChild {
  const [note, setNote] = useState('')
  const input = useRef<HTMLTextAreaElement | null>(null)
  const select = (): void => input.current?.select()
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setNote('Copied.'),
      () => {
        select()
        setNote('The browser does not let the page copy: it is selected now.')
      },
    )
  }
  return (
    <div class="secret">
      <textarea
        ref={input}
        rows={3}
        readOnly
        value={text}
        aria-label={label}
        onFocus={select}
        spellcheck={false}
      />
      <button type="button" class="primary" autofocus onClick={copy}>
        Copy
      </button>
      <p class="hint" role="status">
        {note}
      </p>
    </div>
  )
}
