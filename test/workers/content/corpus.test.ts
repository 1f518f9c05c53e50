import t from 'tap'
import { createContentScanner } from '../../../src/workers/content/scanner.ts'
import type { ContentVerdict } from '../../../src/workers/content/verdict.ts'
import { CORPUS } from '../../support/corpus/corpus.ts'

/** For a machine that does ten other things. */
t.setTimeout(180_000)

const CHUNK_BYTES = 65_536
const SMALL_BYTES = 8_192

function scan(bytes: Uint8Array, nextBytes: () => number): ContentVerdict {
  const scanner = createContentScanner()
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + nextBytes())
    // A copy that is wiped and moved away afterwards: the scanner may keep nothing of it, not even an empty
    // view.
    const chunk = new Uint8Array(bytes.subarray(at, end))
    scanner.push(chunk)
    chunk.fill(0xff)
    structuredClone(chunk.buffer, { transfer: [chunk.buffer] })
    at = end
  }
  return scanner.finish(bytes.length)
}

const text = (verdict: ContentVerdict): string =>
  verdict.ok ? verdict.mimeType : `refused: ${verdict.found}`

t.test('the corpus has at least 150 files, each under its own name', async (t) => {
  t.ok(CORPUS.length >= 150, `${CORPUS.length} files`)
  t.equal(new Set(CORPUS.map((file) => file.name)).size, CORPUS.length)
})

const seed = Math.floor(Math.random() * 2 ** 31)
let state = seed

/** A size of 1 to `max` bytes. */
function size(max: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return 1 + Math.floor((state / 0x80000000) * max)
}

/** Small files byte by byte, too. */
function otherCuts(bytes: Uint8Array): readonly (() => number)[] {
  if (bytes.length > SMALL_BYTES) return [() => size(200_000)]
  return [() => 1, () => 2, () => size(7), () => size(60)]
}

for (const { name, make, expected } of CORPUS) {
  t.test(`${name}: ${expected}, however it is cut (seed ${seed})`, async (t) => {
    const bytes = make()
    const verdict = text(scan(bytes, () => CHUNK_BYTES))
    if (typeof expected === 'string') t.equal(verdict, expected)
    else t.match(verdict, new RegExp(`^refused: .*(?:${expected.source})`))
    for (const cut of otherCuts(bytes)) t.equal(text(scan(bytes, cut)), verdict)
  })
}
