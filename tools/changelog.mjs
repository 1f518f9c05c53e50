// `node tools/changelog.mjs VERSION`: prints what CHANGELOG.md says of a version.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../CHANGELOG.md', import.meta.url))

/**
 * The lines under `## VERSION` or `## VERSION (date)`, without the heading; null: there is no such heading, or
 * nothing under it.
 */
export function changesOf(version, text = readFileSync(FILE, 'utf8')) {
  const parts = text.split(/^## +/m).slice(1)
  const isOf = (part) => part.split(/\s/, 1)[0] === version
  const found = parts.find(isOf)
  const lines = found === undefined ? '' : found.slice(found.indexOf('\n') + 1).trim()
  return lines === '' ? null : `${lines}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [version = ''] = process.argv.slice(2)
  const changes = changesOf(version)
  if (changes === null) {
    process.stderr.write(`CHANGELOG.md says nothing of ${version}\n`)
    process.exit(1)
  }
  process.stdout.write(changes)
}
