import { closeSync, openSync } from 'node:fs'
import { isStartedByNpm } from '../../config.ts'
import { every } from '../../structures/ticks.ts'

export interface SignalActions {
  drain(why: string): void
  /** Ends at once: the operator does not wait. */
  stopAtOnce(): void
  reload(): void
  /** Looks for a scale request in the data directory. */
  scale(): void
}

/** Milliseconds within which a second signal counts as the first one: a terminal and npm both send it. */
const REPEAT_MS = 1_000
/** Milliseconds between two looks at the parent. */
const PARENT_LOOK_MS = 500
/** Milliseconds after a SIGHUP until it is clear whether the terminal closed. */
const HANGUP_WAIT_MS = 250

/** Turns signals and a lost parent into actions; returns a function that stops listening. Design §2. */
export function watchSignals(actions: SignalActions): () => void {
  const hadTerminal = hasTerminal()
  const firstParent = process.ppid
  let firstAtMs: number | null = null
  const end = (name: string): void => {
    if (firstAtMs === null) {
      firstAtMs = performance.now()
      actions.drain(name)
    } else if (performance.now() - firstAtMs > REPEAT_MS) actions.stopAtOnce()
  }
  const onTerm = (): void => end('SIGTERM')
  const onInt = (): void => end('SIGINT')
  const onHangup = (): void => {
    const parent = process.ppid
    // A closing terminal sends SIGHUP too and ends the parent a moment later: that is not a reload.
    setTimeout(() => {
      const isClosed = process.ppid !== parent || (hadTerminal && !hasTerminal())
      if (isClosed) end('SIGHUP from a closed terminal')
      else actions.reload()
    }, HANGUP_WAIT_MS)
  }
  const onScale = (): void => actions.scale()
  process.on('SIGTERM', onTerm).on('SIGINT', onInt).on('SIGHUP', onHangup).on('SIGUSR2', onScale)
  // The reader of the output has ended (`npm start | head -1`): without this listener the node would end in the middle
  // of a request.
  const onStreamError = (): void => undefined
  process.stdout.on('error', onStreamError)
  process.stderr.on('error', onStreamError)
  const looks = isStartedByNpm()
    ? every(PARENT_LOOK_MS, () => {
        if (process.ppid !== firstParent && firstAtMs === null) end('npm has exited')
      })
    : null
  return () => {
    looks?.stop()
    process.off('SIGTERM', onTerm).off('SIGINT', onInt).off('SIGHUP', onHangup).off('SIGUSR2', onScale)
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
