// Makes docs/inside/decisions.md and docs/inside/limits.md of the comments of the constants: `node tools/decisions.mjs`.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { generatedPages } = await import('../dist/test/support/decisions.js')
const { readSources } = await import('../dist/test/support/source.js')
for (const [path, text] of Object.entries(generatedPages(readSources('src')))) writeFileSync(path, text)
