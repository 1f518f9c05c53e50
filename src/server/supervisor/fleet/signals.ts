import { closeSync, openSync } from 'node:fs'
import { isStartedByNpm } from '../../config.ts'

export interface SignalActions {
  /** Finish what is in flight and end. */
  drain(why: string): void
  /** The operator does not want to wait. */
  stopAtOnce(): void
  reload(): void
  /** Somebody left a wish in the data directory. */
  scale(): void
}

/** A terminal and npm both send the first signal: what follows within this time is the same one. */
const REPEAT_MS = 1_000
/** Milliseconds between two looks at the parent, and until it is clear whether the terminal closed. */
const PARENT_LOOK_MS = 500
const HANGUP_WAIT_MS = 250

/** Turns signals and a lost parent into actions; returns the way to stop listening. Design §2. */
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
    // A closing terminal sends it as well, and takes the parent away a moment later: then it is no reload.
    setTimeout(() => {
      const isClosed = process.ppid !== parent || (hadTerminal && !hasTerminal())
      if (isClosed) end('SIGHUP of a closed terminal')
      else actions.reload()
    }, HANGUP_WAIT_MS)
  }
  const onScale = (): void => actions.scale()
  process.on('SIGTERM', onTerm).on('SIGINT', onInt).on('SIGHUP', onHangup).on('SIGUSR2', onScale)
  // Nobody reads any more (`npm start | head -1`): without this the node would end in mid-request.
  const onStreamError = (): void => undefined
  process.stdout.on('error', onStreamError)
  process.stderr.on('error', onStreamError)
  const timer = isStartedByNpm()
    ? setInterval(() => {
        if (process.ppid !== firstParent && firstAtMs === null) end('npm is gone')
      }, PARENT_LOOK_MS)
    : undefined
  return () => {
    clearInterval(timer)
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
