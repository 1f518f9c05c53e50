import t from 'tap'
import { writeHead } from '../../../../src/server/http/reply/write-reply.ts'
import type { WireResponse } from '../../../../src/server/http/reply/wire.ts'

/** The lines of a head as the library writes them. */
function linesOf(headers: readonly string[], isLast = false): string {
  let lines = ''
  const writeHeader = (name: string, value: string): void => {
    lines += `${name}: ${value}\r\n`
  }
  // Of the response this step writes headers alone.
  const res = { writeHeader } as unknown as WireResponse
  writeHead(res, { status: 200, statusLine: '200 OK', headers, body: null }, isLast)
  return lines
}

t.test('headers are written one per line, whatever their values', (t) => {
  for (const value of [
    '',
    'plain',
    'ünïcode – and more',
    'x'.repeat(2_000),
    'x'.repeat(50_000),
    '\x7f\x80',
  ]) {
    t.equal(linesOf(['a', value]), `a: ${value}\r\n`)
    t.equal(linesOf(['a', '1', 'b', value, 'c', '3']), `a: 1\r\nb: ${value}\r\nc: 3\r\n`)
    t.equal(linesOf(['a', value, 'b', '2'], true), `a: ${value}\r\nb: 2\r\nconnection: close\r\n`)
  }
  t.end()
})

t.test('names beyond the size of the cache are written like all others', (t) => {
  for (let nth = 0; nth < 200; nth++) t.equal(linesOf(['a', '1', `b${nth}`, '2']), `a: 1\r\nb${nth}: 2\r\n`)
  t.end()
})

t.test('a head without headers has at most a `connection: close` line', (t) => {
  t.equal(linesOf([]), '')
  t.equal(linesOf([], true), 'connection: close\r\n')
  t.end()
})
