import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import type { Secret } from '../../schemas/vault/secret.ts'
import type { Fields, Log } from '../ports/observe.ts'
import { openOutlet, type Outlet } from './outlet.ts'
import { causeOf, redacted, scrubber } from './redact.ts'
import { textLine } from './text-line.ts'

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `text` is for people at a terminal; JSON when absent. */
  readonly format?: 'json' | 'text'
  readonly hasColour?: boolean
  /** Fields of every line: role, slot, pid, version. */
  readonly base: Fields
  /** Secrets that are redacted in every field. */
  readonly secrets?: Iterable<Secret>
  /** Receives the lines; stdout when absent. */
  readonly write?: (line: string) => void
}

/** Levels of nested fields whose names are checked. */
const REDACTED_LEVELS = 3
/** Fields that are logged as causes. */
const CAUSES: ReadonlySet<string> = new Set(['cause', 'error', 'err'])

export interface OwnedLog extends Log {
  /** Writes the buffered lines; the log also calls it when the process exits. */
  flush(): void
  /** Lines that were dropped because the reader was too slow. */
  readonly dropped: number
  /** Redacts further secrets from now on: a later generation of the configuration has other keys. */
  hide(secrets: Iterable<Secret>): void
  /** Sets the level of the lines from now on. */
  setLevel(level: LogOptions['level']): void
}

/**
 * Writes events as lines to stdout, without making the caller wait. Design §11. Known secrets, bearer
 * tokens, keys of Sluice and passwords of URLs are redacted in every line; a `cause` keeps only parts that
 * cannot hold content.
 */
export function createLog({
  level,
  format = 'json',
  hasColour = false,
  base,
  secrets = [],
  write,
}: LogOptions): OwnedLog {
  const out = write === undefined ? stdout() : { write, flush() {}, dropped: 0 }
  const { scrub, hide } = scrubber(secrets)
  const lines: DestinationStream = {
    write: (line) => out.write(format === 'json' ? scrub(line) : textLine(scrub(line), hasColour)),
  }
  const logger = pino(
    {
      level,
      base,
      messageKey: 'event',
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redacted(fields, REDACTED_LEVELS, CAUSES),
      },
      serializers: Object.fromEntries([...CAUSES].map((name) => [name, causeOf])),
    },
    lines,
  )
  const setLevel = (next: LogOptions['level']): void => {
    logger.level = next
  }
  return {
    ...eventsOf(logger),
    hide,
    setLevel,
    flush: () => out.flush(),
    get dropped() {
      return out.dropped
    },
  }
}

function stdout(): Outlet {
  const out = openOutlet(1)
  process.on('exit', () => out.flush())
  return out
}

function eventsOf(logger: Logger): Log {
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
  }
}
