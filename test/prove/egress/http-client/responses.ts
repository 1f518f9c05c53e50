/** Responses in every framing, and what damage makes of them. */
import { belowOf, changedBytes, type Below } from '../../../support/random/byte-changes.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

export const RESPONSES: readonly Buffer[] = [
  `${OK}content-length: 11\r\n\r\nhello world`,
  `${OK}content-type: application/json\r\ncontent-length: 2\r\nretry-after: 3\r\n\r\n{}`,
  `${OK}Date: Mon, 1 Jan 2026 00:00:00 GMT\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n[]`,
  `${OK}connection: close\r\ncontent-length: 3\r\n\r\nabc`,
  `${OK}content-length: 0\r\n\r\n`,
  `${OK}connection: close\r\n\r\nuntil the end`,
  `${CHUNKED}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`,
  `${CHUNKED}a;x=y\r\n0123456789\r\n1\r\n!\r\n0;z\r\n\r\n`,
  `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n`,
  `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}content-length: 2\r\n\r\nab`,
  'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n',
  'HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow',
  'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab',
  'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nab',
].map((text) => Buffer.from(text, 'latin1'))

/** Pieces that decide how a response is read. */
const PIECES = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    ';',
    '=',
    '"',
    ',',
    '\0',
    '\x01',
    '\x7f',
    '\x80',
    '\xff',
  ],
  ...[
    '0',
    '1',
    '2',
    'a',
    'f',
    'F',
    'g',
    '-',
    '+',
    '0x',
    '00',
    '10',
    '0\r\n\r\n',
    '2\r\nab\r\n',
    ';a',
    ';a=b',
    ';a="b"',
  ],
  ...[
    'HTTP/1.1 ',
    'HTTP/1.0 ',
    'HTTP/1.2 ',
    'HTTP/2.0 ',
    'http/1.1 ',
    '100',
    '101',
    '102',
    '199',
    '204',
    '304',
    '999',
  ],
  ...['content-length: 2\r\n', 'Content-Length: 11\r\n', 'content-length: 0\r\n', 'content-length : 2\r\n'],
  ...['content-length: 2, 2\r\n', 'content-length: 02\r\n', 'content-length: 99999999999999999999\r\n'],
  ...[
    'transfer-encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
    'transfer-encoding: gzip, chunked\r\n',
  ],
  ...[
    'transfer-encoding: identity\r\n',
    'transfer-encoding : chunked\r\n',
    'transfer-encoding:\tchunked \r\n',
  ],
  ...[
    'connection: close\r\n',
    'connection: upgrade\r\nupgrade: x\r\n',
    'connection: keep-alive\r\n',
    'x: y\r\n',
  ],
  ...[': y\r\n', ' folded\r\n', '\tfolded\r\n', 'x\r\n', 'x y: z\r\n', 'keep-alive: timeout=1\r\n', 'x:\r\n'],
].map((piece) => Buffer.from(piece, 'latin1'))
const CHANGES_MAX = 3

/** A response with a few changes, in bytes or in lines. */
export function mutatedResponse(random: () => number, base: Buffer): Buffer {
  const below = belowOf(random)
  let changed = base
  for (let left = 1 + below(CHANGES_MAX); left > 0; left--) changed = change(changed, below)
  return changed
}

function change(bytes: Buffer, below: Below): Buffer {
  const piece = PIECES[below(PIECES.length)] ?? bytes
  return below(7) === 0 ? inLines(bytes, piece, below) : changedBytes(bytes, { piece, rangeMax: 8 }, below)
}

/** Puts a line between two others, or takes one away. */
function inLines(bytes: Buffer, piece: Buffer, below: Below): Buffer {
  const lines = bytes.toString('latin1').split('\r\n')
  const at = below(lines.length)
  const line = piece.toString('latin1').replace(/\r\n$/, '')
  lines.splice(at, below(2), ...(below(3) === 0 ? [] : [line]))
  return Buffer.from(lines.join('\r\n'), 'latin1')
}
