/** Streams that were changed at random: what no provider means to send, and some send. */
import type { Random } from '../../../support/embeddings/random-answers.ts'
import { belowOf, changedBytes, type Below } from '../../../support/random/byte-changes.ts'

/** Pieces that decide how a stream is read. */
const PIECES = [
  ...['\n', '\n\n', '\r', '\r\n', '\r\n\r\n', '\ufeff', ':', ': x\n\n', 'data: ', 'data:', 'data', 'da', ' '],
  ...['event: error\n', 'event: x\n', 'id: 1\n', 'retry: 1\n', '[DONE]', 'data: [DONE]\n\n', 'data: {}\n\n'],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    '\\',
    '\\u',
    '\\ud83d',
    '\u0000',
    'null',
    'true',
    '0',
    '-',
    '1e400',
    '[]',
  ],
  ...[
    '"finish_reason":"stop"',
    '"finish_reason":null',
    '"choices":[]',
    '"index":1',
    '"index":7,',
    '"delta":{',
  ],
  ...[
    '"usage":null,',
    '"error":{"message":"x"},',
    '"content":"x",',
    '"role":null,',
    '"tool_calls":null,',
    '"finishReason":"STOP",',
    '"thought":true,',
    '"type":"error",',
    'é',
    '😀',
  ],
].map((piece) => Buffer.from(piece))
const CHANGES_MAX = 4

/**
 * @param body a stream that is in order
 * @param other another one, of which parts are taken
 */
export function mutated(random: Random, body: Buffer, other: Buffer): Buffer {
  const below = belowOf(random)
  let changed = body
  for (let left = 1 + below(CHANGES_MAX); left > 0; left--) changed = change(changed, other, below)
  return changed
}

/** Where the bytes are cut into reads: few or many pieces, or single bytes. */
export function piecesOf(random: Random, bytes: Buffer): readonly Buffer[] {
  const most = [1, 4, 40, 400, 4_000][Math.floor(random() * 5)] ?? 1
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(random() * most)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

function change(body: Buffer, other: Buffer, below: Below): Buffer {
  switch (below(8)) {
    case 0:
      return withPartOf(other, body, below)
    case 1:
      return withoutEvent(body, below)
    default: {
      const piece = PIECES[below(PIECES.length)] ?? body
      return changedBytes(body, { piece, rangeMax: [1, 8, 300][below(3)] ?? 1 }, below)
    }
  }
}

function withPartOf(other: Buffer, body: Buffer, below: Below): Buffer {
  const [at, from] = [below(body.length + 1), below(other.length)]
  return Buffer.concat([body.subarray(0, at), other.subarray(from, from + below(600)), body.subarray(at)])
}

/** Drops an event, or sends it a second time in another place. */
function withoutEvent(body: Buffer, below: Below): Buffer {
  const events = body.toString('latin1').split('\n\n')
  const [event = ''] = events.splice(below(events.length), 1)
  if (below(2) === 0) events.splice(below(events.length + 1), 0, event, event)
  return Buffer.from(events.join('\n\n'), 'latin1')
}
