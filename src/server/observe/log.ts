import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import type { Secret } from '../../schemas/secret.ts'
import type { Fields, Log } from '../ports/observe.ts'
import { causeOf, scrubber } from './redact.ts'

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Stand on every line: role, slot, pid, version. */
  readonly base: Fields
  /** Texts that may never appear, whatever field carries them. */
  readonly secrets?: Iterable<Secret>
  /** Where lines go; stdout when absent. */
  readonly write?: (line: string) => void
}

export interface OwnedLog extends Log {
  /** Writes out what is buffered; also called by itself when the process exits. */
  flush(): void
  /** These may never appear from now on: a later generation of the configuration has other keys. */
  hide(secrets: Iterable<Secret>): void
  /** From now on. */
  setLevel(level: LogOptions['level']): void
}

/**
 * Events as JSON lines on stdout, written behind the caller's back: a line costs 2.6 µs. Design §11.
 * Known secrets, bearer tokens, keys of ours and passwords of URLs are struck out of every line; of a `cause` only what cannot hold
 * content is kept. Style §10.
 */
export function createLog({ level, base, secrets = [], write }: LogOptions): OwnedLog {
  const out = write === undefined ? stdout() : { write, flush() {} }
  const { scrub, hide } = scrubber(secrets)
  const lines: DestinationStream = { write: (line) => out.write(scrub(line)) }
  const logger = pino({
    level,
    base,
    messageKey: 'event',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { cause: causeOf, error: causeOf, err: causeOf },
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  }, lines)
  const setLevel = (next: LogOptions['level']): void => {
    logger.level = next
  }
  return { ...eventsOf(logger), hide, setLevel, flush: () => out.flush() }
}

/** Field names that hold secrets or content by their nature. */
const REDACTED_NAMES = [
  'authorization', 'cookie', 'apiKey', 'api_key', 'password', 'secret', 'token', 'value', 'body', 'input', 'prompt',
]
const REDACTED_PATHS = REDACTED_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

function stdout(): { write(line: string): void; flush(): void } {
  const buffered = destination({ fd: 1, sync: false })
  // A reader that went away (`npm start | head`) must not end the node.
  buffered.on('error', () => undefined)
  const flush = (): void => {
    try {
      buffered.flushSync()
    } catch {
      // Not opened yet, or nobody reads any more: there is nothing that could still be told.
    }
  }
  process.on('exit', flush)
  return { write: (line) => void buffered.write(line), flush }
}

function eventsOf(logger: Logger): Log {
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
  }
}
