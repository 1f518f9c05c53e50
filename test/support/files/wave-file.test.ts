import t from 'tap'
import { createContentScanner } from '../../../src/workers/content/scanner.ts'
import { wholeFile } from './wave-file.ts'

for (const bytes of [1e3, 64e3, 3e6]) {
  t.test(`the noise of ${bytes} bytes is a WAV file to the scanner that decides on uploads`, async (t) => {
    const file = wholeFile(bytes)
    const scanner = createContentScanner()
    for (let at = 0; at < bytes; at += 65_536) scanner.push(file.subarray(at, at + 65_536))
    t.equal(file.length, bytes)
    t.match(scanner.finish(bytes), { mimeType: 'audio/wav' })
  })
}
