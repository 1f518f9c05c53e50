import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import type { Secret } from '../../schemas/vault/secret.ts'
import type { Fields, Log } from '../ports/observe.ts'
import { openOutlet, type Outlet } from './outlet.ts'
import { causeOf, redacted, scrubber } from './redact.ts'

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Stand on every line: role, slot, pid, version. */
  readonly base: Fields
  /** Texts that may never appear, whatever field carries them. */
  readonly secrets?: Iterable<Secret>
  /** Where lines go; stdout when absent. */
  readonly write?: (line: string) => void
}

/** Fields, and fields of theirs, that are looked at by name. */
const REDACTED_LEVELS = 3
/** Fields that are told as causes. */
const CAUSES: ReadonlySet<string> = new Set(['cause', 'error', 'err'])

export interface OwnedLog extends Log {
  /** Writes out what is buffered; also called by itself when the process exits. */
  flush(): void
  /** Lines that nobody read in time. */
  readonly dropped: number
  /** These may never appear from now on: a later generation of the configuration has other keys. */
  hide(secrets: Iterable<Secret>): void
  /** From now on. */
  setLevel(level: LogOptions['level']): void
}

/**
 * Events as JSON lines on stdout, written behind the caller's back. Design §11. Known secrets, bearer tokens,
 * keys of ours and passwords of URLs are struck out of every line; of a `cause` only what cannot hold content
 * is kept.
 */
export function createLog({ level, base, secrets = [], write }: LogOptions): OwnedLog {
  const out = write === undefined ? stdout() : { write, flush() {}, dropped: 0 }
  const { scrub, hide } = scrubber(secrets)
  const lines: DestinationStream = { write: (line) => out.write(scrub(line)) }
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
