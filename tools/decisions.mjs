// Rewrites the README's list of decisions from the comments of the constants: `node tools/decisions.mjs`.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { decisionTable } = await import('../dist/test/support/decisions.js')
const { readSources } = await import('../dist/test/support/source.js')
const readme = readFileSync('README.md', 'utf8')
writeFileSync(
  'README.md',
  readme.replace(
    /(<!-- decisions -->\n)[\s\S]*?(<!-- end of decisions -->)/,
    (_, start, end) => `${start}${decisionTable(readSources('src'))}\n${end}`,
  ),
)
