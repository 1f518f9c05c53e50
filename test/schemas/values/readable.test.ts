import t from 'tap'
import { readableBytes, readableCount } from '../../../src/schemas/values/readable.ts'

t.test('counts and sizes are written with thousands separators and units', async (t) => {
  t.equal(readableCount(10_000), '10,000')
  t.equal(readableBytes(33_554_432), '32 MiB')
  t.equal(readableBytes(262_144), '256 KiB')
  t.equal(readableBytes(1_500), '1,500 bytes')
  t.equal(readableBytes(0), '0 bytes')
})
