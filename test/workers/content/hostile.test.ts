import t from 'tap'
import { AUTOMATA } from '../../../src/workers/content/automaton.ts'
import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../../src/workers/content/scanner.ts'

const FILE_BYTES = 3 * CONTENT_SLICE_BYTES_MAX
const PDF = '%PDF-1.7\n1 0 obj\n'

interface Hostile {
  readonly head: string
  /** Fills the rest of the file. */
  readonly repeated: string
  /** Steps of each kind for 1,000 bytes, at most. */
  readonly most: Readonly<Record<'runs' | 'pairs' | 'words', number>>
}

/**
 * Files that make the scan stop as often as they can. Each stop is a step of some 20 ns, where other bytes
 * take less than one: what a file may cost is the number of its stops.
 */
const HOSTILE: Readonly<Record<string, Hostile>> = {
  'open brackets': { head: '', repeated: '[', most: { runs: 1, pairs: 0, words: 0 } },
  'pairs of brackets': { head: '', repeated: '[]', most: { runs: 1, pairs: 0, words: 0 } },
  'records of two fields': { head: '', repeated: 'a,\n', most: { runs: 340, pairs: 0, words: 0 } },
  'quoted fields': { head: '', repeated: '"a",', most: { runs: 1, pairs: 0, words: 0 } },
  'objects of a PDF': { head: PDF, repeated: ' obj', most: { runs: 1, pairs: 1, words: 1 } },
  'ends of a PDF': { head: PDF, repeated: '%%EOF', most: { runs: 201, pairs: 1, words: 1 } },
  'objects and ends': { head: PDF, repeated: '%%EOF obj', most: { runs: 225, pairs: 1, words: 1 } },
  'beginnings of a trailer': { head: PDF, repeated: 'traile', most: { runs: 1, pairs: 1, words: 1 } },
  'beginnings of archives': { head: PDF, repeated: 'PK', most: { runs: 1, pairs: 1, words: 1 } },
  'entries of archives': { head: PDF, repeated: 'PK\x03\x04', most: { runs: 1, pairs: 1, words: 250 } },
  'beginnings of pages': { head: PDF, repeated: '<htm', most: { runs: 1, pairs: 1, words: 1 } },
  'beginnings of pages, now and then': {
    head: PDF,
    repeated: '<htm    ',
    most: { runs: 1, pairs: 126, words: 1 },
  },
}

/** Counts the calls of a method of the automata while a file is scanned. */
function counted(scan: () => void): Record<keyof Hostile['most'], number> {
  const { read, pairIn, wordIn } = AUTOMATA
  const calls = { runs: 0, pairs: 0, words: 0 }
  Object.assign(AUTOMATA, {
    read: (...input: Parameters<typeof read>) => (calls.runs++, read.apply(AUTOMATA, input)),
    pairIn: (...input: Parameters<typeof pairIn>) => (calls.pairs++, pairIn.apply(AUTOMATA, input)),
    wordIn: (...input: Parameters<typeof wordIn>) => (calls.words++, wordIn.apply(AUTOMATA, input)),
  })
  try {
    scan()
  } finally {
    Object.assign(AUTOMATA, { read, pairIn, wordIn })
  }
  return calls
}

for (const [name, { head, repeated, most }] of Object.entries(HOSTILE)) {
  t.test(`the scan rarely stops: ${name}`, async (t) => {
    const file = Buffer.alloc(FILE_BYTES, repeated, 'latin1')
    file.write(head, 'latin1')
    const calls = counted(() => {
      const scanner = createContentScanner()
      for (let at = 0; at < file.length; at += CONTENT_SLICE_BYTES_MAX)
        scanner.push(file.subarray(at, at + CONTENT_SLICE_BYTES_MAX))
      scanner.finish(file.length)
    })
    for (const kind of ['runs', 'pairs', 'words'] as const) {
      const found = (calls[kind] * 1_000) / FILE_BYTES
      t.ok(found <= most[kind], `${kind}: ${found.toFixed(2)} for 1,000 bytes, at most ${most[kind]}`)
    }
  })
}
