import { readFileSync } from 'node:fs'
import t from 'tap'
import { readSources, ROOT, sourceFile } from '../support/source.ts'
import {
  barrels,
  frontEndImports,
  importTable,
  packagesAbroad,
  socketsOutsideGate,
  wrongDirections,
} from './import-rules.ts'

const src = readSources('src')

t.test('no file imports against the direction table', async (t) => {
  t.same(wrongDirections(src), [])
})

t.test('ARCHITECTURE.md has the direction table as it is (node tools/decisions.mjs)', async (t) => {
  t.ok(readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8').includes(importTable()))
})

t.test('an import against the table is found: value, type, dynamic and re-export', async (t) => {
  const planted = [
    sourceFile('src/schemas/a.ts', "import type { Store } from '../server/store/open.ts'"),
    sourceFile('src/server/operations/models/b.ts', "import { x } from '../embeddings/create-embeddings.ts'"),
    sourceFile('src/server/state/c.ts', "const store = await import('../store/open.ts')"),
    sourceFile('src/server/limits/d.ts', "export { openState } from '../state/open.ts'"),
    sourceFile('src/server/supervisor/e.ts', "import { openStore } from '../store/open.ts'"),
    sourceFile('src/server/http/f.ts', "import { main } from '../main.ts'"),
    sourceFile('src/server/new-folder/g.ts', "import { a } from '../ports/keys.ts'"),
  ]
  t.equal(wrongDirections(planted).length, planted.length)
})

t.test('the imports that the table allows are not found', async (t) => {
  const planted = [
    sourceFile(
      'src/server/http/a.ts',
      "import { OPERATIONS } from '../operations/index.ts'\nimport { s } from '../../schemas/limits.ts'",
    ),
    sourceFile('src/server/supervisor/b.ts', "import { migrate } from '../store/migrate.ts'"),
    sourceFile('src/server/ledger/c.ts', "import { openStore } from '../store/open.ts'"),
    sourceFile('src/server/main.ts', "import { openStore } from './store/open.ts'"),
  ]
  t.same(wrongDirections(planted), [])
})

t.test('client libraries are imported in their home alone', async (t) => {
  t.same(packagesAbroad(src), [])
})

t.test('a client library abroad is found', async (t) => {
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

t.test('uWebSockets.js is imported in at most one file, in the form that works at run time', async (t) => {
  const { by, wrongForm } = frontEndImports(src)
  t.ok(by.length <= 1, by.join(', '))
  t.same(wrongForm, [])
})

t.test('a named value import of uWebSockets.js is found, the default with types is not', async (t) => {
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
