import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { crc32Of } from '../../../src/server/journal/record-buffer.ts'

t.test('the checksum of any part of any bytes equals that of zlib', (t) => {
  const bytes = Buffer.concat([randomBytes(400), Buffer.alloc(20), Buffer.alloc(20, 255)])
  let wrong = 0
  for (let at = 0; at < 40; at++)
    for (let end = at; end <= bytes.length; end++)
      if (crc32Of(bytes, at, end) !== crc32(bytes.subarray(at, end))) wrong += 1
  t.equal(wrong, 0, bytes.toString('hex'))
  t.end()
})
