/** Events of messages as providers stream them. */

/** The usual first event, with the usage of the input. */
export function started(more: object = {}, usage: unknown = { input_tokens: 9, output_tokens: 1 }): object {
  const message = { id: 'msg_up1', type: 'message', role: 'assistant', model: 'claude-2026', content: [] }
  const ending = { stop_reason: null, stop_sequence: null, usage }
  return { type: 'message_start', message: { ...message, ...ending, ...more } }
}

export function block(content_block: object, index = 0): object {
  return { type: 'content_block_start', index, content_block }
}

export function delta(members: object, index = 0): object {
  return { type: 'content_block_delta', index, delta: members }
}

export function text(stated: string, index = 0): object {
  return delta({ type: 'text_delta', text: stated }, index)
}

export function blockEnd(index = 0): object {
  return { type: 'content_block_stop', index }
}

export function stopped(usage: unknown = { output_tokens: 4 }, reason: string | null = 'end_turn'): object {
  return { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }
}

export const STOP = { type: 'message_stop' }

/** A short answer, from its begin to its end. */
export const ANSWER: readonly object[] = [
  started(),
  block({ type: 'text', text: '' }),
  { type: 'ping' },
  text('Hi é "x"'),
  blockEnd(),
  stopped(),
  STOP,
]

/** The bytes of a stream. A text stands for the data of an event without a name. */
export function messageStreamOf(events: readonly (object | string)[], lineEnd = '\n'): Buffer {
  const lines = events.map((event) => {
    if (typeof event === 'string') return `data: ${event}${lineEnd}${lineEnd}`
    const { type } = event as { readonly type?: string }
    return `event: ${type}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`
  })
  return Buffer.from(lines.join(''))
}

/** The data of each event of a caller's stream; each names its type in its one other line. */
export function messageDataOf(events: Uint8Array | null): readonly string[] {
  if (events === null) return []
  const parts = Buffer.from(events).toString().split('\n\n')
  if (parts.pop() !== '') throw new Error('an event without an end')
  return parts.map((part) => {
    const [, name, data] = /^event: (\S+)\ndata: (\{[^\n]*\})$/.exec(part) ?? []
    if (data === undefined || (JSON.parse(data) as { type: string }).type !== name)
      throw new Error(`no event: ${part}`)
    return data
  })
}
