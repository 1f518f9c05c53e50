import { isatty } from 'node:tty'
import type { Fields, Log } from '../ports/observe.ts'

/** Milliseconds after which a start counts as slow, so that its events are written. */
export const HOLD_MS_MAX = 15_000

export interface HeldLog extends Log {
  /** Writes the held events; later events are written at once. */
  release(): void
  /** Writes events that wait for the next turn of the event loop. */
  flush(): void
}

/**
 * Holds the events of a start, so that the first line on stdout is the ready line, which machines read. An
 * error, or a slow start, releases the events. On a terminal there is no ready line, and nothing is held: the
 * banner comes last.
 */
export function holdLog(log: Log, flush: () => void = () => undefined): HeldLog {
  let held: (() => void)[] | null = []
  const release = (): void => {
    clearTimeout(timer)
    const lines = held ?? []
    held = null
    for (const write of lines) write()
  }
  const timer = setTimeout(release, HOLD_MS_MAX)
  timer.unref()
  if (isatty(1)) release()
  const keep =
    (level: 'debug' | 'info' | 'warn') =>
    (event: string, fields?: Fields): void => {
      if (held === null) log[level](event, fields)
      else held.push(() => log[level](event, fields))
    }
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error(event, fields) {
      release()
      log.error(event, fields)
    },
    release,
    flush,
  }
}
