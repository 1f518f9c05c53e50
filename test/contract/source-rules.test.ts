import t from 'tap'
import { functionsOf, readSources, sourceFile } from '../support/source.ts'
import {
  defaultExports,
  dumpingGrounds,
  environmentReads,
  FILE_LINES_MAX,
  FUNCTION_LINES_MAX,
  LINE_COLUMNS_MAX,
  needlessFolders,
  statusNumbers,
  tooLong,
  tooWide,
  typeHoles,
  spokenNames,
  unclearComments,
  unfinished,
  unownedFolders,
} from './source-rules.ts'
import { needless, pauses } from './waiting-rules.ts'

const src = readSources('src')
const all = [...src, ...readSources('test', 'bench')]
const plant = (text: string, path = 'src/server/http/planted.ts') => [sourceFile(path, text)]

t.test('no file but config.ts reads the environment', async (t) => {
  t.same(environmentReads(src), [])
})

t.test('a read of the environment is found, in either form', async (t) => {
  t.equal(environmentReads(plant('const port = process.env.SLUICE_PORT')).length, 1)
  t.equal(environmentReads(plant('const { env } = process')).length, 1)
  t.same(environmentReads(plant('const port = process.env.PORT', 'src/server/config.ts')), [])
})

t.test('no error status is spelled outside the failure catalogue and the definitions', async (t) => {
  t.same(statusNumbers(src), [])
})

t.test('finds an error status as a number, as a text and next to the word status', async (t) => {
  t.equal(statusNumbers(plant('reply(404)')).length, 1)
  t.equal(statusNumbers(plant("res.writeStatus('503 Service Unavailable')")).length, 1)
  t.equal(statusNumbers(plant('const status = 500')).length, 1)
  t.same(statusNumbers(plant('const delayMs = 500')), [])
})

t.test('no source has a type hole: any, a non-null assertion or a silenced compiler error', async (t) => {
  t.same(typeHoles(all), [])
})

t.test('finds each type hole, and does not report a negation', async (t) => {
  t.equal(typeHoles(plant('let a: any')).length, 1)
  t.equal(typeHoles(plant('const b = c as any')).length, 1)
  t.equal(typeHoles(plant('let d: Array<any>')).length, 1)
  t.equal(typeHoles(plant('type E = any')).length, 1)
  t.equal(typeHoles(plant('let e: [any, E]')).length, 1)
  t.equal(typeHoles(plant('e!.f()')).length, 1)
  t.equal(typeHoles(plant('g()![0]')).length, 1)
  t.equal(typeHoles(plant(['//', '@ts-ignore'].join(' '))).length, 1)
  t.same(typeHoles(plant('return !h && !(i !== j)\nconst k = !l\napp.any(path, m)')), [])
})

t.test('nothing is marked as unfinished', async (t) => {
  t.same(unfinished(all), [])
})

t.test('finds a mark of unfinished work', async (t) => {
  t.equal(unfinished(plant(['//', 'TO' + 'DO later'].join(' '))).length, 1)
})

t.test('comments state their subject', async (t) => {
  t.same(unclearComments(src), [])
})

t.test('identifiers name actions, not speech', async (t) => {
  t.same(spokenNames(all), [])
  t.equal(spokenNames(plant('const toldBy = isHeard')).length, 2)
})

t.test('finds an unclear comment by its first words or its pronoun', async (t) => {
  const offenders = [
    'What is no count was not written by us.',
    'Bytes of a body. Of a request that stalls, none.',
    'Milliseconds between two looks. Likewise.',
    'As above, in bytes.',
    'Nobody hears of a closed connection.',
    'The row is for whoever asks first.',
    'Ends when somebody\n * stops the process.',
    'Null: the provider told none.',
  ]
  for (const words of offenders) t.equal(unclearComments(plant(`/** ${words} */`)).length, 1, words)
  const plain = '/** The count of a request. */\n// Offsets, as above all others: of all bytes.'
  t.same(unclearComments(plant(plain)), [])
})

t.test('files, functions and lines are at most as long as allowed', async (t) => {
  t.same(tooLong(all), [])
  t.same(tooWide(all), [])
})

t.test('finds a long function, whichever form it has', async (t) => {
  const body = `${'\n'.repeat(FUNCTION_LINES_MAX)}}`
  const heads = [
    'function a() {',
    'async function b(c: { d: string }): Promise<Outcome<Map<string, { e: 1 }>>> {',
    'const f = (g: number) => {',
    'const h = async i => {',
    'class J { k(l: string): void {',
    'const m = { n() {',
    'constructor(o: number) {',
    'get p(): string {',
  ]
  for (const head of heads) t.equal(tooLong(plant(`${head}${body}`)).length, 1, head)
})

t.test('blocks that are not functions are not measured', async (t) => {
  const text =
    'if (a) {\n}\nfor (const b of c) {\n}\nwhile (d()) {\n}\nswitch (e) {\n}\ntry {\n} catch (f) {\n}\n' +
    'const g = {\n}\ninterface H {\n}\nclass I extends J {\n}\nexport type K = { l: string }\n'
  t.same(functionsOf(sourceFile('planted.ts', text)), [])
})

t.test('a long file is found', async (t) => {
  t.equal(tooLong(plant('a()\n'.repeat(FILE_LINES_MAX + 1))).length, 1)
})

t.test('a wide line is found, and columns are counted in characters', async (t) => {
  const text = (columns: number) => `// ${'😀'.repeat(columns - 3)}\n`
  t.same(tooWide(plant(`a()\n${text(LINE_COLUMNS_MAX + 1)}`)), [
    `src/server/http/planted.ts:2 a line of ${LINE_COLUMNS_MAX + 1} columns`,
  ])
  t.same(tooWide(plant(text(LINE_COLUMNS_MAX))), [])
})

t.test('tests do not depend on real time', async (t) => {
  t.same(pauses(all), [])
  t.same(needless(all), [], 'what may let time pass does')
})

t.test('finds every way to wait for real time, and accepts a pause in a stream', async (t) => {
  const found = (text: string) => pauses(plant(text, 'test/server/planted.test.ts')).length
  t.equal(found(`await new Promise((resolve) => ${'setTimeout'}(resolve, 5))`), 1)
  t.equal(found(`import { ${'setTimeout'} as rest } from 'node:timers/promises'`), 1)
  t.equal(found(`await ${'pause'}(20)`), 1)
  t.equal(found(`await ${'sleep'}(waitMs)`), 1)
  t.equal(found("t.setTimeout(600_000)\nimport { setImmediate } from 'node:timers/promises'"), 0)
  t.equal(found("client.socket.pause()\nawait until('it is so', isSo)"), 0)
})

t.test('a test leaves no folder in the temporary directory', async (t) => {
  t.same(unownedFolders(all), [])
  t.same(needlessFolders(all), [], 'what may make a folder does')
  const made = "const folder = mkdtempSync(join(tmpdir(), 'sluice-'))"
  t.match(unownedFolders(plant(made, 'test/server/planted.test.ts')), [/^test.server.planted\.test\.ts:1 /])
  t.same(unownedFolders(plant(made)), [])
})

t.test('no folder or file is a dumping ground', async (t) => {
  t.same(dumpingGrounds(all), [])
})

t.test('finds a dumping ground, whether folder or file', async (t) => {
  t.equal(dumpingGrounds(plant('', 'src/server/utils/a.ts')).length, 1)
  t.equal(dumpingGrounds(plant('', 'test/support/helpers.ts')).length, 1)
})

t.test('exports have names', async (t) => {
  t.same(defaultExports(src), [])
  t.equal(defaultExports(plant('export default function a() {}')).length, 1)
})

/** Lists that need no such end, or have it in their statement. */
const PAGES_OF_BOUNDED_BYTES: ReadonlySet<string> = new Set(
  [
    // Events of jobs, whose errors and clips are bounded.
    'operator/list-webhook-events',
    // `endedByBytes` of the store.
    'audit/list-audit',
    'workspaces/list-interns',
    // Rows of numbers and ids; four budgets; as many endpoints as an organization may have, without pages.
    'money/list-activity',
    'money/list-budgets',
    'endpoints/list-private-endpoints',
    // Of the catalogue: the operator's own file, whose JSON is made once for all.
    'models/list-embedding-models',
    'models/list-model-endpoints',
    'models/list-models',
    'models/list-providers',
    'models/list-user-models',
    'models/list-zdr-endpoints',
    'videos/list-video-models',
    // Constants.
    'scim/discovery/list-resource-types',
    'scim/discovery/list-schemas',
  ].map((name) => `src/server/operations/${name}.ts`),
)

t.test('every list limits the bytes of a page', async (t) => {
  const lists = src.filter(({ path }) => /operations\/.*\/(?:list|search)-[\w-]+\.ts$/.test(path))
  const others = lists.filter(({ text }) => !/\b(?:cutPage|offsetPage|userList|groupList)\(/.test(text))
  t.ok(lists.length > 20)
  t.same(
    others.map(({ path }) => path).filter((path) => !PAGES_OF_BOUNDED_BYTES.has(path)),
    [],
  )
})
