import t from 'tap'
import { readSources, type SourceFile } from '../support/source.ts'

const src = readSources('src')
/** Every file whose name ends with `limits.ts`. */
const LIMITS_FILES = src.map(({ path }) => path).filter((path) => /^src\/schemas\/.*limits\.ts$/.test(path))
const FILES = await Promise.all(
  LIMITS_FILES.map(
    async (path) => (await import(`../../${path.replace(/ts$/, 'js')}`)) as Readonly<Record<string, unknown>>,
  ),
)
const limits: Readonly<Record<string, unknown>> = Object.assign({}, ...FILES)
const wordsOfCode = wordsOf(src)
const wordsOfTests = wordsOf(readSources('test').filter((file) => !file.path.startsWith('test/contract/')))

/** Limits that no test can use, with the reason. */
const UNTESTED: Readonly<Record<string, string>> = {
  ADMIN_ANSWER_MS_MAX: 'tests of the relay pass a shorter one',
  ADMIN_REQUEST_MS_MAX: 'a test would take half a minute',
  HISTORY_ANSWER_MS_MAX: 'tests of requests between processes pass a shorter one',
  BROADCAST_POST_MS_MAX: 'tests of the broadcast pass a shorter one',
  CLOSE_MS_MAX: 'a test would take half a minute',
  PRUNE_LOOK_MS: 'how soon a runner looks is of no consequence but for the time of a test',
  OLDEST_LOOK_MS: 'a test would take a minute',
  VIDEO_EXPIRE_MS: 'a test would take a minute',
}

t.test('no two files define a limit of the same name', async (t) => {
  t.ok(LIMITS_FILES.length > 20)
  const ofAll = FILES.map((file) => Object.keys(file).length)
  t.equal(
    Object.keys(limits).length,
    ofAll.reduce((sum, count) => sum + count),
  )
})

t.test('every limit is used by code, even if only by another limit', async (t) => {
  t.same(unused(Object.keys(limits), wordsOfCode), [])
})

t.test('every limit is used by a test', async (t) => {
  t.same(
    unused(Object.keys(limits), wordsOfTests).filter((name) => !(name in UNTESTED)),
    [],
  )
})

t.test('every exception names a limit that exists and is still untested', async (t) => {
  const untested = unused(Object.keys(limits), wordsOfTests)
  t.same(
    Object.keys(UNTESTED).filter((name) => !untested.includes(name)),
    [],
  )
})

t.test('finds an unused limit', async (t) => {
  t.same(unused(['NOBODY_USES_ME_MAX'], wordsOfCode), ['NOBODY_USES_ME_MAX'])
})

t.test('every limit is a positive whole number', async (t) => {
  t.same(
    Object.entries(limits).filter(([, value]) => !Number.isSafeInteger(value) || Number(value) < 1),
    [],
  )
})

function unused(names: readonly string[], words: ReadonlySet<string>): readonly string[] {
  return names.filter((name) => !words.has(name))
}

/** All words of files; the name after `const` in the limits' own files does not count as a use. */
function wordsOf(files: readonly SourceFile[]): ReadonlySet<string> {
  const words = new Set<string>()
  for (const { path, tokens } of files) {
    const isOfLimits = LIMITS_FILES.includes(path)
    for (const [index, { text }] of tokens.entries())
      if (!isOfLimits || tokens[index - 1]?.text !== 'const') words.add(text)
  }
  return words
}
