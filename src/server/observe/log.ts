import { writeSync } from 'node:fs'
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import type { Secret } from '../../schemas/vault/secret.ts'
import type { Fields, Log } from '../ports/observe.ts'
import { MIB } from '../../schemas/limits/limits.ts'

/** Bytes of log lines that wait for a reader; beyond, lines are dropped and counted. Decision. */
export const LOG_BUFFER_BYTES_MAX = 4 * MIB

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `text` for people at a terminal; absent: JSON. */
  readonly format?: 'json' | 'text'
  readonly hasColour?: boolean
  /** Fields of every line: role, slot, pid, version. */
  readonly base: Fields
  /** Secrets that are redacted in every field. */
  readonly secrets?: Iterable<Secret>
  /** Receives the lines; stdout when absent. */
  readonly write?: (line: string) => void
}

/** Number of levels of nested fields whose names are checked. */
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

/** Members that have a fixed position in a line, or are left out. */
const PLACED: ReadonlySet<string> = new Set(['level', 'time', 'event', 'role', 'slot', 'pid'])
/** Colours of the levels that a terminal shows by default. */
const COLOURS: Readonly<Record<string, number>> = { warn: 33, error: 31 }
/** Columns of the longest level. */
const LEVEL_COLUMNS = 'error'.length

/**
 * A line of JSON as the logger writes it, for people: local time, level, process, event and fields.
 * @param hasColour the terminal shows colours
 */
export function textLine(json: string, hasColour: boolean): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>
  const [level, role] = [String(line['level']), String(line['role'])]
  const shown = level.padEnd(LEVEL_COLUMNS)
  const colour = hasColour ? COLOURS[level] : undefined
  const painted = colour === undefined ? shown : `\u001b[${colour}m${shown}\u001b[0m`
  const place = line['slot'] === undefined ? role : `${role} ${String(line['slot'])}`
  const fields = Object.entries(line).flatMap(([name, value]) =>
    PLACED.has(name) ? [] : ` ${name}=${textOf(value)}`,
  )
  return `${timeOf(line['time'])} ${painted} ${place}: ${String(line['event'])}${fields.join('')}\n`
}

/** Hours, minutes and seconds in the reader's time zone. */
function timeOf(time: unknown): string {
  const at = new Date(String(time))
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((figure) => String(figure).padStart(2, '0'))
    .join(':')
}

/** ASCII words are not quoted; everything else is written as JSON, which keeps a field on its line. */
function textOf(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+,%()[\]-]+$/.test(value)) return value
  return JSON.stringify(value).replaceAll(SIGNS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`)
}

/** Characters that JSON does not escape and that move the cursor of a terminal. */
const SIGNS = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** Output of finished lines, such as stdout. */
interface Outlet {
  write(line: string): void
  /** Writes the buffered lines as long as the reader accepts them. */
  flush(): void
  /** Lines that were dropped because the buffer was full or the reader had closed the pipe. */
  readonly dropped: number
}

/** Error codes of a temporary failure to write: the pipe or the disk is full. */
const PASSING: ReadonlySet<string> = new Set(['EAGAIN', 'ENOSPC', 'EDQUOT'])
/** Milliseconds between two writes to a full pipe. */
const RETRY_MS = 50
/** Milliseconds that `flush` waits for a reader that accepts nothing. */
const STALL_MS_MAX = 1_000
/** Milliseconds between two writes of a `flush` that waits. */
const STALL_LOOK_MS = 10

/**
 * Writes lines to a file descriptor; the lines of one turn of the event loop are written at once. A stalled
 * reader does not block the process: Node makes the pipe of stdout non-blocking, lines wait in a bounded
 * buffer, and further lines are dropped and counted. A file stream would write in a thread of the pool, and a
 * thread that waits in a write would keep the process from ending.
 */
export function openOutlet(fd: number): Outlet {
  // Reading this property makes the pipe non-blocking, for this process and all processes that inherit the
  // pipe.
  if (fd === 1) void process.stdout.writable
  let lines: string[] = []
  let waiting: Buffer = Buffer.alloc(0)
  let bytes = 0
  let dropped = 0
  let isScheduled = false
  let isBroken = false

  /** @returns false when the reader accepts nothing at the moment */
  const push = (): boolean => {
    if (lines.length > 0) {
      waiting = Buffer.concat([waiting, Buffer.from(lines.join(''))])
      lines = []
    }
    try {
      while (waiting.length > 0) {
        const written = writeSync(fd, waiting)
        waiting = waiting.subarray(written)
        bytes -= written
      }
      return true
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && PASSING.has(String(cause.code))) return false
      // A reader that closed the pipe (`npm start | head`) must not end the node.
      isBroken = true
      return true
    }
  }
  const turn = (): void => {
    isScheduled = !push()
    if (isScheduled) setTimeout(turn, RETRY_MS).unref()
  }
  return {
    get dropped() {
      return dropped
    },
    write(line) {
      const length = Buffer.byteLength(line)
      if (isBroken || bytes + length > LOG_BUFFER_BYTES_MAX) {
        dropped += 1
        return
      }
      lines.push(line)
      bytes += length
      if (isScheduled) return
      isScheduled = true
      setImmediate(turn)
    },
    flush() {
      for (let giveUpAt = performance.now() + STALL_MS_MAX; !isBroken && performance.now() < giveUpAt;) {
        const before = bytes
        if (push()) return
        if (bytes < before) giveUpAt = performance.now() + STALL_MS_MAX
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_LOOK_MS)
      }
    },
  }
}

const REDACTED = '[secret]'
/** Characters below which a secret is not redacted, since redacting it would remove ordinary words. */
const SECRET_CHARS_MIN = 8

interface Scrubber {
  scrub(line: string): string
  /** Redacts further secrets from now on, also as encoded by JSON and by percent encoding. */
  hide(secrets: Iterable<Secret>): void
}

/**
 * Redacts in a finished line the known secrets and, whatever their source, the text after `Bearer`, keys of
 * Sluice, users and passwords of URLs, and passwords in queries. This is the last line of defence; secrets
 * should not reach a line. Every pattern takes time linear in the line, since callers choose parts of it.
 */
function scrubber(secrets: Iterable<Secret>): Scrubber {
  const texts = new Set<string>()
  const hide = (more: Iterable<Secret>): void => {
    for (const secret of more) {
      const text = secret.reveal()
      if (text.length < SECRET_CHARS_MIN) continue
      texts.add(text).add(JSON.stringify(text).slice(1, -1)).add(encodeURIComponent(text))
    }
  }
  hide(secrets)
  return {
    hide,
    scrub(line) {
      let clean = line
      for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, REDACTED)
      clean = clean.replace(BEARER, `$1${REDACTED}`).replace(OUR_KEY, REDACTED)
      if (clean.includes('=')) clean = clean.replace(QUERY_SECRET, `$1${REDACTED}`)
      if (clean.includes('@') && clean.includes('://')) clean = clean.replace(WORD, withoutUser)
      return clean
    },
  }
}

const BEARER = /\b(bearer(?: |\\t)+)(?:\\.|[^\s"\\,;])+/gi
const OUR_KEY = /sk-sluice-[\w-]+/gi
const QUERY_SECRET = /([?&;][\w-]*(?:password|passwd|pwd|secret|token|key)=)[^\s"'\\&;#]+/gi
/** A word: in a line of JSON a text ends at the next quote. */
const WORD = /[^\s"]+/g

/** Removes user and password of a URL. A password may hold slashes, colons and `@` itself, so that everything up to the last `@` is removed. */
function withoutUser(word: string): string {
  const at = word.lastIndexOf('@')
  const start = at === -1 ? -1 : word.search(/:\/\/(?!\/)/)
  return start === -1 || at < start ? word : `${word.slice(0, start + 3)}${REDACTED}${word.slice(at)}`
}

/** Names of fields that hold secrets or content. */
const REDACTED_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'apiKey',
  'api_key',
  'password',
  'secret',
  'token',
  'value',
  'body',
  'input',
  'prompt',
])

/**
 * The fields without secrets and content, selected by their names down to `levels` levels; the same object if
 * nothing was removed. The logger's own redaction, with a path for each name and level, copies every line
 * completely, at ten times the cost of the line.
 * @param kept names of the first level that are not searched: other code reduces their values to loggable parts
 */
function redacted(fields: object, levels: number, kept: ReadonlySet<string> = NONE): Record<string, unknown> {
  let clean = fields as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    const shown = REDACTED_NAMES.has(name)
      ? '[redacted]'
      : levels > 1 && !kept.has(name) && isOpen(value)
        ? redacted(value, levels - 1)
        : value
    if (shown === value) continue
    if (clean === fields)
      clean = (Array.isArray(fields) ? [...fields] : { ...fields }) as Record<string, unknown>
    clean[name] = shown
  }
  return clean
}

const NONE: ReadonlySet<string> = new Set()

/** True for an object that JSON writes field by field: a `Secret` or a `Date` has its own `toJSON`. */
function isOpen(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

const CAUSE_CHARS_MAX = 300
/** Number of nested causes that are logged. */
const CAUSES_MAX = 4

/** The loggable parts of a cause: kind, code, text and frames; never the query, parameters or body that it may carry. */
function causeOf(cause: unknown): unknown {
  return describe(cause, CAUSES_MAX)
}

function describe(cause: unknown, depth: number): unknown {
  if (typeof cause === 'string') return cause.slice(0, CAUSE_CHARS_MAX)
  if (!(cause instanceof Error)) return cause === undefined || cause === null ? cause : `[${typeof cause}]`
  const code =
    'code' in cause && (typeof cause.code === 'string' || typeof cause.code === 'number')
      ? cause.code
      : undefined
  return {
    name: cause.name,
    // The message of a JSON syntax error quotes the text, which is a caller's or a provider's content.
    message: cause.name === 'SyntaxError' ? '[withheld]' : cause.message.slice(0, CAUSE_CHARS_MAX),
    ...(code === undefined ? {} : { code }),
    // Only the frames are logged: the head of a stack repeats the message.
    stack: (cause.stack ?? '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
    ...(cause.cause === undefined || depth <= 1 ? {} : { cause: describe(cause.cause, depth - 1) }),
  }
}
