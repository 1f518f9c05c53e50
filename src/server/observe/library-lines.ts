import { format } from 'node:util'

/** Characters of a library's line that are logged. Decision. */
const LINE_CHARS_MAX = 500
const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const

let write: ((text: string) => void) | null = null

/**
 * Receives the lines that libraries print: warnings of Node, such as that of the AWS SDK about its version,
 * and lines on the console, such as those of ioredis. They would otherwise appear as plain text between the
 * lines of the log. A later call replaces the receiver.
 */
export function takeLibraryLines(next: (text: string) => void): void {
  if (write === null) {
    // Removed, since Node's own listener prints to stderr.
    process.removeAllListeners('warning')
    process.on('warning', ({ name, message }) =>
      pass(message.startsWith(name) ? message : `${name}: ${message}`),
    )
    for (const method of METHODS) console[method] = (...parts: unknown[]) => pass(format(...parts))
  }
  write = next
}

function pass(text: string): void {
  const line = text.replace(/\s+/g, ' ').trim()
  write?.(line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}…` : line)
}
