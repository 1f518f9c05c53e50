import { h, type ComponentChild } from 'preact'

/** What stands between back-ticks is a name or a command. */
export function withCode(text: string): ComponentChild[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))
}
