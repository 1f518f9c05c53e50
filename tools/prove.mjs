// `npm run prove -- <name> [options]`: the long acceptance and chaos runs of test/prove, each a program of its own.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { build } from './build.mjs'

process.chdir(new URL('..', import.meta.url).pathname)
const FOLDER = 'test/prove'
const [name, ...options] = process.argv.slice(2)
const programs = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((file) => isProgram(file)).map((file) => file.slice(0, -'.ts'.length)).sort()
  : []

if (name === undefined || !programs.includes(name)) {
  process.stdout.write('npm run prove -- <name> [--short] [--seed N]\n\n')
  for (const program of programs) process.stdout.write(`  ${program.padEnd(12)}${firstComment(program)}\n`)
  process.exit(name === undefined ? 0 : 2)
}
build()
const ran = spawnSync(process.execPath, [`dist/${FOLDER}/${name}.js`, ...options], { stdio: 'inherit' })
process.exit(ran.status ?? 1)

/** A program calls `prove(`; the others are its parts and the tests of their short forms. */
function isProgram(file) {
  return file.endsWith('.ts') && !file.endsWith('.test.ts') && /^await prove\(/m.test(readFileSync(`${FOLDER}/${file}`, 'utf8'))
}

function firstComment(program) {
  return /^\/\*\* ?(.*?)(?: \*\/)?$/m.exec(readFileSync(`${FOLDER}/${program}.ts`, 'utf8'))?.[1] ?? ''
}
