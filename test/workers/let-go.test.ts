import t from 'tap'
import { detach, wholeBuffers } from '../../src/workers/detach.ts'

const COUNT = 256
const BYTES = 64 * 1_024

t.test('frees released buffers at once, without a collection', (t) => {
  const buffers = Array.from({ length: COUNT }, () => Buffer.allocUnsafeSlow(BYTES).buffer)
  const before = process.memoryUsage().arrayBuffers
  detach(buffers)
  t.ok(before - process.memoryUsage().arrayBuffers >= COUNT * BYTES)
  t.ok(buffers.every((buffer) => buffer.byteLength === 0))
  t.end()
})

t.test('does not release views of larger buffers and small pieces', (t) => {
  const whole = new Uint8Array(100)
  t.same(wholeBuffers([whole, new Uint8Array(100).subarray(1), new Uint8Array(99)], 100), [whole.buffer])
  t.end()
})
