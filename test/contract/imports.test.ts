import { readFileSync } from 'node:fs'
import t from 'tap'
import { readSources, ROOT, sourceFile } from '../support/source.ts'
import { barrels, importTable, wrongDirections } from './import-rules.ts'
import { importCycles } from './imports/import-cycles.ts'
import {
  frontEndImports,
  packagesAbroad,
  packagesLoadedEarly,
  socketsOutsideGate,
} from './imports/package-rules.ts'
import { idleSubjectRows, wrongSubjects } from './imports/subject-rules.ts'

const src = readSources('src')
const all = [...src, ...readSources('bench', 'test')]

t.test('no file imports another against the table of directions', async (t) => {
  t.same(wrongDirections(src), [])
})

t.test('ARCHITECTURE.md has the current table of directions (node tools/generated-pages.mjs)', async (t) => {
  t.ok(readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8').includes(importTable()))
})

t.test('an import against the table is found: value, type, dynamic and re-export', async (t) => {
  const planted = [
    sourceFile('src/schemas/a.ts', "import type { Store } from '../server/store/base/open.ts'"),
    sourceFile('src/server/operations/models/b.ts', "import { x } from '../embeddings/create-embeddings.ts'"),
    sourceFile('src/server/redis/c.ts', "const store = await import('../store/base/open.ts')"),
    sourceFile('src/server/limits/d.ts', "export { openState } from '../redis/open.ts'"),
    sourceFile('src/server/supervisor/e.ts', "import { openStore } from '../store/base/open.ts'"),
    sourceFile('src/server/http/f.ts', "import { main } from '../main.ts'"),
    sourceFile('src/server/new-folder/g.ts', "import { a } from '../ports/keys.ts'"),
  ]
  t.equal(wrongDirections(planted).length, planted.length)
})

t.test('the imports that the table allows are not reported', async (t) => {
  const planted = [
    sourceFile(
      'src/server/http/a.ts',
      "import { OPERATIONS } from '../operations/index.ts'\nimport { s } from '../../schemas/limits.ts'",
    ),
    sourceFile('src/server/supervisor/b.ts', "import { migrate } from '../store/migrations/migrate.ts'"),
    sourceFile('src/server/main.ts', "import { openStore } from './store/base/open.ts'"),
  ]
  t.same(wrongDirections(planted), [])
})

t.test('a subfolder is a subject, and imports another subject only by a row of the table', async (t) => {
  t.same(wrongSubjects(src), [])
  t.same(idleSubjectRows(src), [])
})

t.test('finds a folder that is not a subject, and an import of another subject', async (t) => {
  const planted = [
    sourceFile('src/server/store/presets/a.ts', "import { b } from '../videos/b.ts'"),
    sourceFile('src/server/store/base/a.ts', "import { b } from '../money/b.ts'"),
    sourceFile('src/schemas/misc/a.ts', 'export const a = 1'),
    sourceFile('src/server/ports/audit/a.ts', "export type { B } from '../keys/keys.ts'"),
  ]
  t.equal(wrongSubjects(planted).length, planted.length)
})

t.test('a subject may import the base of its layer, and layers above may import all subjects', async (t) => {
  const planted = [
    sourceFile('src/server/store/presets/a.ts', "import { b } from '../base/open.ts'"),
    sourceFile('src/server/store/lifecycle/a.ts', "import { b } from '../videos/b.ts'"),
    sourceFile('src/schemas/bodies.ts', "import { b } from './keys/keys.ts'"),
  ]
  t.same(wrongSubjects(planted), [])
})

t.test('no files import each other in a circle, types included', async (t) => {
  t.same(importCycles(all), [])
})

t.test('finds import cycles: of values, of types, of three files, and of a file with itself', async (t) => {
  const planted = [
    sourceFile('src/schemas/a.ts', "import { b } from './b.ts'"),
    sourceFile('src/schemas/b.ts', "import type { A } from './a.ts'"),
    sourceFile('src/schemas/c.ts', "import type { D } from './d.ts'"),
    sourceFile('src/schemas/d.ts', "import { a } from './a.ts'\nimport { type E } from './e.ts'"),
    sourceFile('src/schemas/e.ts', "export const c = await import('./c.ts')"),
    sourceFile('src/schemas/f.ts', "import type { F } from './f.ts'"),
    sourceFile('src/schemas/g.ts', "import { a } from './a.ts'"),
  ]
  t.same(importCycles(planted), [
    'src/schemas/a.ts ↔ src/schemas/b.ts',
    'src/schemas/c.ts ↔ src/schemas/d.ts ↔ src/schemas/e.ts',
    'src/schemas/f.ts',
  ])
})

t.test('client libraries are imported only in their own folder', async (t) => {
  t.same(packagesAbroad(src), [])
})

t.test('finds an import of a client library in another folder', async (t) => {
  t.equal(packagesAbroad([sourceFile('src/server/access/a.ts', "import postgres from 'postgres'")]).length, 1)
})

t.test('no socket is opened outside the egress gate and the folders that design §9 names', async (t) => {
  t.same(socketsOutsideGate(src), [])
})

t.test('a socket outside the gate is found: import, type import, sub-path and global', async (t) => {
  const planted = [
    sourceFile('src/server/upstream/a.ts', "import { Pool } from 'undici'"),
    sourceFile('src/server/access/b.ts', "import type { Socket } from 'node:net'"),
    sourceFile('src/server/runner/c.ts', "import { lookup } from 'node:dns/promises'"),
    sourceFile('src/workers/d.ts', 'await fetch(url)'),
  ]
  t.equal(socketsOutsideGate(planted).length, planted.length)
})

t.test('only operations/index.ts re-exports', async (t) => {
  t.same(barrels(src), [])
})

t.test('a barrel file is found', async (t) => {
  t.equal(barrels([sourceFile('src/server/http/index.ts', "export * from './body.ts'")]).length, 1)
})

t.test('uWebSockets.js is imported in at most one file, in the form that works at runtime', async (t) => {
  const { by, wrongForm } = frontEndImports(src)
  t.ok(by.length <= 1, by.join(', '))
  t.same(wrongForm, [])
})

t.test('finds a named value import of uWebSockets.js, and accepts a default one with types', async (t) => {
  const planted = [
    sourceFile('src/server/http/a.ts', "import { App } from 'uWebSockets.js'"),
    sourceFile(
      'src/server/http/b.ts',
      "import uWS, { type HttpRequest, type HttpResponse } from 'uWebSockets.js'",
    ),
  ]
  t.same(frontEndImports(planted).wrongForm.length, 1)
  t.equal(frontEndImports(planted).by.length, 2)
})

t.test(
  'processes of a node load the S3 client, the encoder of clips and others only when they use them',
  async (t) => {
    for (const entry of ['front', 'runner', 'serve'])
      t.same(packagesLoadedEarly(src, `src/server/main/${entry}.ts`), [], entry)
    const planted = [
      sourceFile(
        'src/server/main/a.ts',
        "import { b } from '../storage/b.ts'\nconst c = await import('../storage/c.ts')",
      ),
      sourceFile('src/server/storage/b.ts', "import { S3Client } from '@aws-sdk/client-s3/x'"),
      sourceFile('src/server/storage/c.ts', "import { S3Client } from '@aws-sdk/client-s3'"),
    ]
    t.same(packagesLoadedEarly(planted, 'src/server/main/a.ts'), [
      'src/server/storage/b.ts:1 @aws-sdk/client-s3/x',
    ])
  },
)
