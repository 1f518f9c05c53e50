import type { Fields, Log } from '../../src/server/ports/observe.ts'

/** A log that keeps its events for the test to read. */
export function keptLog(): Log & { readonly events: { event: string; fields: Fields }[] } {
  const events: { event: string; fields: Fields }[] = []
  const keep = (event: string, fields: Fields = {}): void => void events.push({ event, fields })
  return { events, debug: keep, info: keep, warn: keep, error: keep }
}

/** A log that drops every event. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
