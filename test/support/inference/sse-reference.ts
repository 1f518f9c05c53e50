/** Server-sent events by the words of the standard, from a whole text: what an incremental reader has to give. */

export interface ReferenceEvent {
  readonly name: string
  readonly data: string
}

export function eventsOf(bytes: Uint8Array): readonly ReferenceEvent[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes)
  const events: ReferenceEvent[] = []
  let name = ''
  let data: string[] = []
  // The rest after the last line end is not a line.
  for (const line of text.split(/\r\n|\r|\n/).slice(0, -1)) {
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') })
      name = ''
      data = []
      continue
    }
    const [, field, value] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? []
    if (field === 'data') data.push(value ?? '')
    if (field === 'event') name = value ?? ''
  }
  return events
}
