import { readFileSync } from 'node:fs'
import t from 'tap'
import { ROOT } from '../support/source.ts'
import { crowded, foldersOf, readFolders, subjectAt, subjectTable } from './folder-rules.ts'

t.test('a folder has at most 35 files, and a subject at most 7 folders', async (t) => {
  t.same(crowded(readFolders('src')), [])
  for (const root of ['test', 'bench']) {
    t.same(
      crowded(readFolders(root)).filter((line) => line.endsWith('files')),
      [],
    )
  }
})

t.test(
  'ARCHITECTURE.md lists the current folders of the subjects (node tools/generated-pages.mjs)',
  async (t) => {
    t.ok(readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8').includes(subjectTable()))
  },
)

t.test('finds a folder with 36 files, and a subject with an eighth folder', async (t) => {
  const many = Array.from({ length: 36 }, (_, nth) => `src/server/store/base/f${nth}.ts`)
  const layers = [
    'schemas',
    ...['ports', 'operations', 'store', 'cli', 'runner', 'upstream'].map((name) => `server/${name}`),
  ]
  const files = [...layers.map((layer) => `src/${layer}/money/a.ts`), 'src/server/journal/a.ts']
  t.same(crowded(foldersOf([...many, ...files])), [
    'src/server/store/base has 36 files',
    'money has 8 folders',
  ])
  t.same(crowded(foldersOf([...many.slice(1), ...files.slice(1)])), [])
})

t.test('a folder belongs to the outermost folder that has the name of a subject', async (t) => {
  t.same(subjectAt('src/server/store/money/lending'), { subject: 'money', top: 'src/server/store/money' })
  t.same(subjectAt('src/server/journal'), { subject: 'money', top: 'src/server/journal' })
  t.equal(subjectAt('src/server/http/body'), null)
})
