// `npm run prove -- <name> [--translated] [--short] [--seed N]`: the long acceptance and chaos runs of test/prove.
// `replay` takes --to DIR, where it records, and --against DIR, an earlier recording.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const FOLDER = 'test/prove'
const [name, ...options] = process.argv.slice(2)
/** Runs by name: the text of each, and its module. */
const runs = new Map(
  readdirSync(FOLDER, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const source = readFileSync(`${FOLDER}/${file}`, 'utf8')
      const text = /export const program: Program = \{\s+text: (['"])(.*)\1,/.exec(source)?.[2]
      if (text === undefined) return []
      const forms = /^ {2}(?:async )?translated\b/m.test(source) ? ' [--translated]' : ''
      return [[basename(file, '.ts'), { text: text + forms, module: file.replace(/\.ts$/, '') }]]
    })
    .sort(([a], [b]) => (a < b ? -1 : 1)),
)

const run = runs.get(name)
if (run === undefined) {
  process.stdout.write('npm run prove -- <name> [--translated] [--short] [--seed N]\n\n')
  const width = Math.max(...[...runs].map(([known]) => known.length)) + 2
  for (const [known, { text }] of runs) process.stdout.write(`  ${known.padEnd(width)}${text}\n`)
  process.exit(name === undefined ? 0 : 2)
}
await build()
const ran = spawnSync(process.execPath, [`dist/${FOLDER}/main.js`, run.module, ...options], {
  stdio: 'inherit',
})
process.exit(ran.status ?? 1)
