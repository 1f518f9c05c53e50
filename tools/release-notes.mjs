// `npm run release-notes [-- FROM] [--keep FILE]`: Markdown of what this tree differs by from an earlier one,
// by the definitions of both: operations, fields, settings, error types, tables. First what breaks a caller.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'

const HELP = `npm run release-notes [-- FROM] [--keep FILE]

  FROM         a commit or a tag; absent: the commit that the promise of upgrades begins with
  --keep FILE  writes the definitions of FROM, as the test of the promise reads them, and prints nothing
`

const ROOT = fileURLToPath(new URL('..', import.meta.url))
process.chdir(ROOT)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
await build()
const RELEASES = '../dist/test/support/releases'
const { definitionsOf, textOfDefinitions } = await import(`${RELEASES}/definitions.js`)
const { makeEarlierTree, PROMISED_DEFINITIONS, PROMISED_FROM } = await import(`${RELEASES}/earlier-tree.js`)

const [from] = positionals
if (values.keep === undefined) {
  const { differencesOf } = await import(`${RELEASES}/promise.js`)
  const { notesOf } = await import(`${RELEASES}/notes.js`)
  const before =
    from === undefined
      ? JSON.parse(readFileSync(PROMISED_DEFINITIONS, 'utf8'))
      : await definitionsOfCommit(from)
  process.stdout.write(notesOf(differencesOf(before, await definitionsOf(ROOT))))
} else writeFileSync(values.keep, textOfDefinitions(await definitionsOfCommit(from ?? PROMISED_FROM)))

/** Of a tree that is made for it; ends the process where it cannot be made. */
async function definitionsOfCommit(commit) {
  const home = mkdtempSync(join(tmpdir(), 'sluice-earlier-'))
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'tree')
  const made = await makeEarlierTree({ commit, clone: ROOT, folder })
  if (made.ok) return definitionsOf(folder)
  process.stderr.write(`${made.why}\n`)
  process.exit(1)
}
