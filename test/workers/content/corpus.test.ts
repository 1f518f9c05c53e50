import t from 'tap'
import { createContentScanner } from '../../../src/workers/content/scanner.ts'
import type { ContentVerdict } from '../../../src/workers/content/verdict.ts'
import { CORPUS } from '../../support/corpus/corpus.ts'

const CHUNK_BYTES = 65_536
/** Files up to this size are also fed byte by byte. */
const SMALL_BYTES = 8_192

function scan(bytes: Uint8Array, nextBytes: () => number): ContentVerdict {
  const scanner = createContentScanner()
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + nextBytes())
    // A copy that is wiped afterwards: the scanner may keep nothing of it.
    const chunk = new Uint8Array(bytes.subarray(at, end))
    scanner.push(chunk)
    chunk.fill(0xff)
    at = end
  }
  return scanner.finish(bytes.length)
}

const said = (verdict: ContentVerdict): string =>
  verdict.ok ? verdict.mimeType : `refused: ${verdict.found}`

t.test('the corpus has at least 150 files, each under its own name', async (t) => {
  t.ok(CORPUS.length >= 150, `${CORPUS.length} files`)
  t.equal(new Set(CORPUS.map((file) => file.name)).size, CORPUS.length)
})

for (const { name, make, expected } of CORPUS) {
  t.test(`${name}: ${expected}`, async (t) => {
    const verdict = said(scan(make(), () => CHUNK_BYTES))
    if (typeof expected === 'string') t.equal(verdict, expected)
    else t.match(verdict, new RegExp(`^refused: .*(?:${expected.source})`))
  })
}

t.test('how a file is cut into chunks never changes the verdict', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  let state = seed
  const random = (max: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return 1 + Math.floor((state / 0x80000000) * max)
  }
  for (const { name, make } of CORPUS) {
    const bytes = make()
    const verdict = said(scan(bytes, () => CHUNK_BYTES))
    const cuts =
      bytes.length <= SMALL_BYTES
        ? [() => 1, () => 2, () => random(7), () => random(60)]
        : [() => random(200_000)]
    const other = cuts.map((cut) => said(scan(bytes, cut))).find((found) => found !== verdict)
    if (other !== undefined) t.fail(`${name}: ${verdict}, cut otherwise ${other} (seed ${seed})`)
  }
  t.pass(`seed ${seed}`)
})
