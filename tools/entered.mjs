// `node tools/entered.mjs`: which files and functions of a front one warm call of each kind enters, by folder,
// after V8's own counts, and the most that each kind may enter. CI runs it. The node runs the compiled modules
// one by one, not the joined program.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { callsOf, catalogueOf } from './entered-calls.mjs'
import { startProvider } from './entered-provider.mjs'

const HELP = `node tools/entered.mjs [--files]

  --files   also the names of the files that each call enters

Ends with \`N passed, N failed\`: a kind of call fails when it enters more than its bounds.
`
/** Calls before the first one that counts: caches are filled, leases are there. */
const WARM_CALLS = 4
/** Decision: a function counts when each of so many calls enters it, and a file when one of its functions does. */
const COUNTED_CALLS = 5
/** Milliseconds of a look at a front without calls: more than two periods of its own work. */
const IDLE_MS = 2_500
/** Milliseconds behind an answer: what the call leaves to the next turns of the loop belongs to it. */
const AFTER_MS = 30
const LOOK_MS = 5
/**
 * What a call of each kind may enter: the files that were measured and two more, and of a stream the functions
 * and ten more. A commit that raises a bound says why.
 */
const BOUNDS = {
  'GET /model': { files: 38 },
  'PUT /vault/secrets': { files: 65 },
  'PUT /budgets': { files: 72 },
  'POST /embeddings, by preset': { files: 84 },
  'POST /embeddings, built-in model': { files: 73 },
  'POST /chat/completions, whole': { files: 121 },
  'POST /chat/completions, streamed': { files: 126, functions: 1_058 },
  'POST /messages, translated to chat, streamed': { files: 135 },
  'POST /videos': { files: 74 },
  'POST /files': { files: 75 },
}

const { values } = parseArgs({
  options: { files: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
process.chdir(fileURLToPath(new URL('..', import.meta.url)))
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
await build()
const { PROGRAMS } = await import('./bundle.mjs')
const { startStand, standCatalogue, STAND_MODEL } = await import('../dist/test/support/nodes/stand.js')
const { CHAT_ANSWER, MESSAGES_ANSWER } = await import('../dist/bench/chat/paced-answers.js')
const { FORMS } = await import('../dist/bench/chat/forms.js')

const home = mkdtempSync(join(tmpdir(), 'sluice-entered-'))
const provider = await startProvider({
  [FORMS.chat.path]: CHAT_ANSWER,
  [FORMS.messages.path]: MESSAGES_ANSWER,
})
try {
  copyModules()
  const stand = await startStand({
    program: join(home, 'bin/sluice'),
    catalogue: (mockOrigin) => catalogueOf({ standCatalogue, mockOrigin, textOrigin: provider.origin }),
  })
  try {
    process.exitCode = await measure(stand)
  } catch (problem) {
    process.stderr.write(stand.output())
    throw problem
  } finally {
    await stand.stop()
  }
} finally {
  provider.stop()
  rmSync(home, { recursive: true, force: true })
}

/** A package of its own, whose program is the modules themselves; a front counts from its first module on. */
function copyModules() {
  for (const path of ['bin', 'dist/src', 'catalog.json', 'package.json'])
    cpSync(path, join(home, path), { recursive: true })
  for (const path of ['node_modules', 'dist/typebox', 'dist/undici'])
    if (existsSync(path)) symlinkSync(join(process.cwd(), path), join(home, path))
  mkdirSync(join(home, 'dist/bundle'))
  cpSync('tools/entered-counter.mjs', join(home, 'dist/bundle/entered-counter.mjs'))
  for (const [name, path] of Object.entries(PROGRAMS)) {
    const from = `../${path.replace(/^dist\//, '')}`
    const isMain = name === 'run'
    const text = isMain
      ? `import './entered-counter.mjs'\nexport const run = async (args) => (await import('${from}')).run(args)\n`
      : `import * as all from '${from}'\nexport default all.default\n`
    writeFileSync(join(home, `dist/bundle/${name}.js`), text)
  }
}

/** @returns the exit code */
async function measure(stand) {
  const [front] = stand.fronts()
  const { port, keys } = stand
  const marks = Object.fromEntries(Object.entries(FORMS).map(([form, { text }]) => [form, text]))
  const calls = await callsOf({ port, keys, standModel: STAND_MODEL, provider, marks })
  let failed = 0
  for (const { name, call, waits = false } of calls) {
    for (let nth = 0; nth < WARM_CALLS; nth++) await call(nth)
    const counted = (nth) => call(WARM_CALLS + nth)
    const files = await (waits ? enteredBesideTimers(front, counted) : enteredWithoutTimers(front, counted))
    if (!isWithin(name, files)) failed++
  }
  process.stdout.write(`\n${calls.length - failed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

/** Prints a kind of call. @returns false: it is beyond a bound */
function isWithin(name, files) {
  const { files: filesMax = Infinity, functions: functionsMax = Infinity } = BOUNDS[name] ?? {}
  const functions = [...files.values()].reduce((sum, count) => sum + count, 0)
  const figure = (count, most, what) =>
    `${count} ${what}${most === Infinity ? '' : count > most ? `, OVER ${most}` : `, at most ${most}`}`
  const figures = [figure(files.size, filesMax, 'files'), figure(functions, functionsMax, 'functions')]
  process.stdout.write(`\n${name}: ${figures.join('; ')}\n  ${byFolder(files)}\n`)
  if (values.files)
    for (const [file, count] of [...files].sort()) process.stdout.write(`    ${count} ${file}\n`)
  return files.size <= filesMax && functions <= functionsMax
}

/** Timers are held for all calls of a kind: what they would begin would go on during the next one. */
async function enteredWithoutTimers(front, call) {
  const file = join(home, 'held')
  writeFileSync(file, '')
  const files = await enteredBy(front, call)
  rmSync(file)
  await take(front)
  return files
}

/** For a call that waits for timers: functions that an idle front enters are left out. */
async function enteredBesideTimers(front, call) {
  const idle = await ran(front, () => sleep(IDLE_MS))
  return enteredBy(front, call, new Set(idle))
}

/** Files with the number of their functions that each of the calls enters. */
async function enteredBy(front, call, without = new Set()) {
  const taken = []
  for (let nth = 0; nth < COUNTED_CALLS; nth++) taken.push(new Set(await ran(front, () => call(nth))))
  const files = new Map()
  for (const id of taken[0]) {
    if (without.has(id) || !taken.every((one) => one.has(id))) continue
    const [file] = id.split(' ')
    files.set(file, (files.get(file) ?? 0) + 1)
  }
  return files
}

/** The front's functions that ran during the work. */
async function ran(front, work) {
  await take(front)
  await work()
  await sleep(AFTER_MS)
  return take(front)
}

/** What the front has counted since the last time: file, name and place of each function. */
async function take(front) {
  const file = join(home, `counts-${front}`)
  process.kill(front, 'SIGUSR2')
  while (!existsSync(file)) {
    await sleep(LOOK_MS)
    // Throws when the front has ended.
    process.kill(front, 0)
  }
  const counts = JSON.parse(readFileSync(file, 'utf8'))
  rmSync(file)
  return counts
}

/** Folders with the number of their files, the largest first. */
function byFolder(files) {
  const counts = new Map()
  for (const file of files.keys()) {
    const folder = file
      .replace(/^server\//, '')
      .split('/')[0]
      .replace(/\.ts$/, '')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([folder, count]) => `${folder} ${count}`)
    .join(', ')
}
