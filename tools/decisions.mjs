// Makes docs/inside/decisions.md and docs/inside/limits.md from the comments of constants, and the table of
// ARCHITECTURE.md from the import rules: `node tools/decisions.mjs`.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { generatedPages } = await import('../dist/test/support/decisions.js')
const { importTable } = await import('../dist/test/contract/import-rules.js')
const { readSources } = await import('../dist/test/support/source.js')
for (const [path, text] of Object.entries(generatedPages(readSources('src')))) writeFileSync(path, text)
const architecture = readFileSync('ARCHITECTURE.md', 'utf8')
writeFileSync(
  'ARCHITECTURE.md',
  architecture.replace(
    /(<!-- imports: .*\n)[\s\S]*?(<!-- end of imports -->)/,
    (_, start, end) => `${start}${importTable()}\n${end}`,
  ),
)
