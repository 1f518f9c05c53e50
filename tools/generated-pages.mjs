// Makes docs/inside/limits.md from the comments of constants, docs/use/translation-fields.md from the table of
// fields, and the tables of ARCHITECTURE.md from the import rules and the tree: `node tools/generated-pages.mjs`.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { generatedPages } = await import('../dist/test/support/limits-page.js')
const { importTable } = await import('../dist/test/contract/import-rules.js')
const { subjectTable } = await import('../dist/test/contract/folder-rules.js')
const { readSources } = await import('../dist/test/support/source.js')
for (const [path, text] of Object.entries(generatedPages(readSources('src')))) writeFileSync(path, text)
const tables = { imports: importTable(), subjects: subjectTable() }
let architecture = readFileSync('ARCHITECTURE.md', 'utf8')
for (const [name, table] of Object.entries(tables)) {
  architecture = architecture.replace(
    new RegExp(`(<!-- ${name}: .*\\n)[\\s\\S]*?(<!-- end of ${name} -->)`),
    (_, start, end) => `${start}${table}\n${end}`,
  )
}
writeFileSync('ARCHITECTURE.md', architecture)
