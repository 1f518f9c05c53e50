// Builds, and runs test files side by side, each as a plain `node file`; prints failures whole, one line for
// each skipped test, and ends with `N passed, N failed`. HELP below lists the options. tap's own runner puts
// two loader hooks before every test: they cost each process more CPU than most tests do.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { installIfPossible } from './install.mjs'
import { summaryOf } from './tap-summary.mjs'
import { jobsOf, writeGroup } from './test-groups.mjs'
import { changedTests, compiledOf, kindOf, testFiles, UnknownTest } from './test-files.mjs'
import { runPool } from './test-pool.mjs'
import { keepTimes, keptTimes, longestFirst } from './test-times.mjs'

const HELP = `npm test [-- [test/x.test.ts | test/folder]… [options]]

  without a file      the behaviour of the product
  --proofs            the short forms of the proofs of test/prove  (npm run test:proofs)
  --apparatus         tests of benches, tools, load generators, the release, and the blocks of pages
  --all               all of these                                 (npm run test:all)
  --changed           tests of what differs from the last commit: files of tests that changed, and those that import,
                      themselves or by test/support, a file that did
  -g, --grep WORDS    tests whose title has these words; once more for a test within it
  --watch             once more at each change of src or test, until Ctrl-C
  --times             the seconds of each file, and of its CPU
  --record            keep the seconds of each file in tools/test-times.json: the longest begin first
`

/**
 * Seconds of a test file: the longest has taken 402 s on two slow cores with some fifteen other jobs.
 * Decision.
 */
const TIMEOUT_S = 1_200
/** Milliseconds beyond tap's own limit, which names the test: for a file with a blocked loop. */
const KILL_MS = (TIMEOUT_S + 30) * 1_000
/** Seconds beyond which a file is named as slow, so that the suite stays short. */
const SLOW_S = 30
/** Characters of a file's standard error that are kept. */
const STDERR_CHARS_MAX = 64 * 1024
/** Milliseconds from the end of a file to the end of its output. */
const PIPES_MS = 2_000
/** Milliseconds from a change of a file to the build. */
const WATCH_CALM_MS = 200
/** Unit of `/proc`, on every Linux that Node runs on. */
const TICKS_PER_S = 100

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    proofs: { type: 'boolean' },
    apparatus: { type: 'boolean' },
    all: { type: 'boolean' },
    changed: { type: 'boolean' },
    watch: { type: 'boolean' },
    times: { type: 'boolean' },
    record: { type: 'boolean' },
    grep: { type: 'string', short: 'g', multiple: true },
    help: { type: 'boolean', short: 'h' },
  },
})
process.chdir(fileURLToPath(new URL('../', import.meta.url)))
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const running = new Set()
let [passed, failed, endedCpuS] = [0, 0, 0]
/** Seconds that each file took. */
const times = new Map()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal)
    process.exit(1)
  })
}
const isWhole = positionals.length === 0 && !values.changed && !values.proofs && !values.apparatus
// A deleted or renamed test would otherwise still run from its old output.
if (isWhole) {
  rmSync('dist/test', { recursive: true, force: true })
  rmSync('dist/.tsbuildinfo', { force: true })
}
await runOnce()
if (values.watch) await runAtEachChange()

async function runOnce() {
  // Clients of other vendors: only tests need them, so that `npm start` does not install them. Nothing that is
  // compiled imports them.
  await Promise.all([build(), installIfPossible('tools/clients')])
  ;[passed, failed] = [0, 0]
  const kept = keptTimes()
  const all = jobsOf(chosenFiles(), kept, undefined, values.grep === undefined)
  const jobs = new Map(all.map((job) => [job.path, job]))
  await runPool(longestFirst(all), (path) => runJob(jobs.get(path)))
  if (values.record) keepTimes(times)
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

/** Compiled test files by the options; ends the process when a name selects none. */
function chosenFiles() {
  try {
    if (values.changed) return changedTests()
    if (positionals.length > 0) return positionals.flatMap(compiledOf)
    return testFiles().filter((path) => values.all || kinds().includes(kindOf(path)))
  } catch (problem) {
    if (!(problem instanceof UnknownTest)) throw problem
    process.stderr.write(`${problem.message}\n`)
    process.exit(2)
  }
}

function kinds() {
  const named = [...(values.proofs ? ['proof'] : []), ...(values.apparatus ? ['apparatus'] : [])]
  return named.length === 0 ? ['behaviour'] : named
}

async function runAtEachChange() {
  let isChanged = false
  let wake = () => undefined
  for (const folder of ['src', 'test', 'bench'].filter(existsSync)) {
    watch(folder, { recursive: true }, () => {
      isChanged = true
      wake()
    })
  }
  for (;;) {
    process.stdout.write('waiting for a change\n')
    if (!isChanged) await new Promise((resolve) => (wake = resolve))
    // Editors write in several steps.
    await sleep(WATCH_CALM_MS)
    isChanged = false
    await runOnce()
  }
}

/** A file of a group that has failed may have disturbed the others: each is judged by itself. */
async function runJob(job) {
  const { path, files } = job
  if (files.length === 1) return runAndTell(path)
  writeGroup(job)
  const startedAt = performance.now()
  const result = await runFile(path)
  if (result.failed === 0 && result.passed > 0) return tell(files, result, startedAt)
  process.stdout.write(`failed in one process, and run one by one: ${files.join(' ')}\n`)
  for (const file of files) await runAndTell(file)
}

async function runAndTell(file) {
  const startedAt = performance.now()
  tell([file], await runFile(file), startedAt)
}

function tell(files, result, startedAt) {
  const file = files.join(' ')
  passed += result.passed
  failed += result.failed
  const tookS = (performance.now() - startedAt) / 1_000
  for (const one of files) times.set(one, tookS / files.length)
  const cpu = values.times ? `, ${result.cpuS.toFixed(1)} s of CPU` : ''
  if (values.times || tookS > SLOW_S) process.stdout.write(`${tookS.toFixed(1)} s${cpu} ${file}\n`)
  if (result.text !== '') process.stdout.write(`# ${file}\n${result.text}`)
}

/** Runs a file and never throws: its faults are in the text. */
function runFile(file) {
  return new Promise((resolve) => {
    let [stdout, stderr] = ['', '']
    const grep =
      values.grep === undefined
        ? {}
        : { TAP_GREP: values.grep.map(literal).join('\n'), TAP_FILTER_QUIETLY: '1' }
    const env = { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S), ...grep }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-STDERR_CHARS_MAX)))
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      const cpuS = cpuOfEnded()
      const done = () => resolve({ ...summaryOf({ stdout, stderr, code, signal }), cpuS })
      child.once('close', done)
      // A grandchild that survives the test would hold the pipes for ever. Their content is read first, also
      // after a standstill of this process.
      setTimeout(() => setImmediate(done), PIPES_MS).unref()
    })
    child.once('error', (problem) =>
      resolve({ ...summaryOf({ stdout, stderr: String(problem), code: null, signal: null }), cpuS: 0 }),
    )
  })
}

/**
 * Seconds of CPU of the children that have ended since the last call, with those that they waited for; 0 on
 * other systems than Linux. Servers that survive their file, as the Postgres of all tests does, are not
 * included.
 */
function cpuOfEnded() {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')
  const ended = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S
  const since = ended - endedCpuS
  endedCpuS = ended
  return since
}

/** A pattern for tap that matches these words anywhere and in either case. */
function literal(words) {
  return `/${words.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/i`
}
