import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'

export interface DialogProps {
  readonly title: string
  /** Escape, too. */
  onClose(): void
  readonly isWide?: boolean
  readonly children?: ComponentChildren
}

/** A dialog that keeps the focus while it is open, and then returns it to the previous element. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps): ComponentChild {
  const element = useRef<HTMLDialogElement | null>(null)
  const isShown = useRef(true)
  const id = useId()
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Closed before it is removed, so that the browser returns the focus.
    return () => {
      isShown.current = false
      dialog?.close()
    }
  }, [])
  const cancel = (event: Event): void => {
    event.preventDefault()
    onClose()
  }
  // If a dialog prevents Escape twice, the browser closes it anyway.
  const closed = (): void => {
    if (isShown.current) onClose()
  }
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={cancel}
      onClose={closed}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}

export interface ConfirmProps {
  readonly title: string
  readonly text: ComponentChildren
  /** Text of the button: `Delete the key`. */
  readonly action: string
  readonly isDestructive?: boolean
  /** If it rejects, the dialog shows the reason and stays open. */
  run(): Promise<unknown>
  onClose(): void
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({
  title,
  text,
  action,
  isDestructive = false,
  run,
  onClose,
}: ConfirmProps): ComponentChild {
  const { isBusy, problem, start } = useAction(run, onClose)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body">{text}</div>
      {problem !== null && (
        <p class="notice bad" role="alert">
          {messageOf(problem)}
        </p>
      )}
      <footer>
        <button type="button" autofocus onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={isDestructive ? 'danger' : 'primary'} disabled={isBusy} onClick={start}>
          {isBusy ? 'Working…' : action}
        </button>
      </footer>
    </Dialog>
  )
}

export interface Action {
  readonly isBusy: boolean
  /** The error of the last run; null: it succeeded. */
  readonly problem: unknown
  start(): void
}

/** Runs an action, at most once at a time, and keeps its error. */
export function useAction(run: () => Promise<unknown>, onDone: () => void): Action {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const start = (): void => {
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    run()
      .then(onDone, setProblem)
      .finally(() => setBusy(false))
  }
  return { isBusy, problem, start }
}
