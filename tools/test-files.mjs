/** Finds the test files and selects them by a name or a change. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** A name that selects no test file; the message is for the user. */
export class UnknownTest extends Error {}

/** What tests the means: benches, tools, load generators, the release, and the blocks of pages. */
const APPARATUS = /^dist\/test\/(?:bench|deploy|readme|support|tools)\//

/** @returns `proof` for the short forms of the long runs, `apparatus` for tests of the means, else `behaviour` */
export function kindOf(compiled) {
  if (compiled.startsWith('dist/test/prove/')) return 'proof'
  return APPARATUS.test(compiled) ? 'apparatus' : 'behaviour'
}

/** All compiled test files, without the output of sources that are gone. */
export function testFiles() {
  return readdirSync('dist/test', { recursive: true })
    .filter((path) => path.endsWith('.test.js') && existsSync(join('test', path.replace(/js$/, 'ts'))))
    .sort()
    .map((path) => join('dist/test', path))
}

/** @param name name of a source file, of a compiled one, or of a folder of either @returns compiled files */
export function compiledOf(name) {
  const path = join('dist', normalize(name).replace(/^(?:\.\/|dist\/)+/, ''))
    .replace(/\.ts$/, '.js')
    .replace(/\/$/, '')
  if (path.endsWith('.test.js') && existsSync(path)) return [path]
  const isFolder = existsSync(path) && statSync(path).isDirectory()
  const within = isFolder ? testFiles().filter((file) => file.startsWith(`${path}/`)) : []
  if (within.length === 0) throw new UnknownTest(`there is no test file ${name}${nearOf(path)}`)
  return within
}

function nearOf(path) {
  const last = path
    .split('/')
    .at(-1)
    .replace(/(?:\.test)?\.js$/, '')
  const near = testFiles()
    .filter((file) => file.includes(last))
    .slice(0, 5)
    .map((file) => file.replace(/^dist\//, '').replace(/js$/, 'ts'))
  return near.length === 0 ? '' : `; near: ${near.join(' ')}`
}

/**
 * Test files that differ from the last commit, and those that import a changed file directly or through files
 * of test/support. Imports through the product's own modules do not count: they would select nearly every
 * test.
 */
export function changedTests() {
  const changed = new Set(
    gitNames('diff', '--name-only', 'HEAD').concat(gitNames('ls-files', '--others', '--exclude-standard')),
  )
  const reached = (path, seen = new Set()) => {
    if (changed.has(path)) return true
    if (seen.has(path) || !path.startsWith('test/')) return false
    seen.add(path)
    return importsOf(path).some((one) => reached(one, seen))
  }
  const sources = testFiles().map((file) => file.replace(/^dist\//, '').replace(/js$/, 'ts'))
  const found = sources.filter((path) => reached(path)).map((path) => join('dist', path.replace(/ts$/, 'js')))
  if (found.length === 0) throw new UnknownTest('no test imports what differs from the last commit')
  return found
}

const imports = new Map()

function importsOf(path) {
  if (!imports.has(path)) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const names = [...text.matchAll(/\bfrom '(\.[^']+)'/g)].map(([, name]) => join(dirname(path), name))
    imports.set(path, names)
  }
  return imports.get(path)
}

function gitNames(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new UnknownTest('--changed needs git and a checkout')
  return stdout.split('\n').filter((name) => name !== '')
}
