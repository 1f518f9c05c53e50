// Builds, and runs test files side by side, each as a plain `node file`; prints failures whole, one line for
// each skipped test, and ends with `N passed, N failed`. What it takes is in HELP below. tap's own runner
// puts two loader hooks before every test: they cost each process more CPU than most tests do.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, watch } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { installIfPossible } from './install.mjs'
import { summaryOf } from './tap-summary.mjs'
import { changedTests, compiledOf, isProof, longestFirst, testFiles, UnknownTest } from './test-files.mjs'

const HELP = `npm test [-- [test/x.test.ts | test/folder]… [options]]

  without a file      everything but the proofs of test/prove
  --proofs            the short forms of the proofs alone  (npm run test:proofs)
  --all               both                                 (npm run test:all)
  --changed           tests of what differs from the last commit: files of tests that changed, and those that import,
                      themselves or by test/support, a file that did
  -g, --grep WORDS    tests whose title has these words; once more for a test within it
  --watch             once more at each change of src or test, until Ctrl-C
  --times             the seconds of each file, and of its CPU
`

/** Decision: two test files at once. Many of them start several processes of their own. */
const JOBS = 2
/**
 * Decision: and, while the cores of the machine have little to do, up to two more. Each of them is started by
 * what is idle then: a machine that does ten other things gets none.
 */
const SPARE_JOBS = 2
const IDLE_SHARE_LEAST = 0.3
/** Milliseconds over which a spare job looks at the cores: what has just begun is at work by then. */
const IDLE_LOOK_MS = 3_000
/**
 * Decision: beside them one of those that for most of their time wait for processes, leases and delays of the
 * product's own.
 */
const isWaiting = (path) => /^dist\/test\/(?:prove|readme|server\/supervisor)\//.test(path)
/**
 * Decision: a test file may take 600 s, on a machine that does ten other things: the longest has taken 210 s
 * on one that does five.
 */
const TIMEOUT_S = 600
/** Behind tap's own limit, which names the test: for a file whose loop is blocked, in milliseconds. */
const KILL_MS = (TIMEOUT_S + 30) * 1_000
/** A file that takes longer is named: the suite is to stay short. */
const SLOW_S = 30
const STDERR_CHARS_MAX = 64 * 1024
/** From the end of a file to the end of what it printed, in milliseconds. */
const PIPES_MS = 2_000
/** Milliseconds from a change of a file to the build. */
const WATCH_CALM_MS = 200
/** Of `/proc`, on every Linux that Node runs on. */
const TICKS_PER_S = 100

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    proofs: { type: 'boolean' },
    all: { type: 'boolean' },
    changed: { type: 'boolean' },
    watch: { type: 'boolean' },
    times: { type: 'boolean' },
    grep: { type: 'string', short: 'g', multiple: true },
    help: { type: 'boolean', short: 'h' },
  },
})
process.chdir(fileURLToPath(new URL('../', import.meta.url)))
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
let [waiting, others] = [[], []]
const running = new Set()
let [passed, failed, endedCpuS] = [0, 0, 0]

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal)
    process.exit(1)
  })
}
const isWhole = positionals.length === 0 && !values.changed && !values.proofs
// A test that was deleted or renamed would otherwise go on running from its old output.
if (isWhole) {
  rmSync('dist/test', { recursive: true, force: true })
  rmSync('dist/.tsbuildinfo', { force: true })
}
await runOnce()
if (values.watch) await runAtEachChange()

async function runOnce() {
  await build()
  // Clients of other vendors: tests alone need them, and `npm start` does not wait for them.
  await installIfPossible('tools/clients')
  const files = longestFirst(chosenFiles())
  waiting = files.filter(isWaiting)
  others = files.filter((path) => !isWaiting(path))
  ;[passed, failed] = [0, 0]
  await Promise.all([
    work([waiting]),
    ...Array.from({ length: JOBS }, () => work([others, waiting])),
    ...Array.from({ length: SPARE_JOBS }, (_, nth) => workWhenIdle(nth)),
  ])
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

/** Compiled test files by what was asked for. Ends the process where that names none. */
function chosenFiles() {
  try {
    if (values.changed) return changedTests()
    if (positionals.length > 0) return positionals.flatMap(compiledOf)
    return testFiles().filter((path) => values.all || isProof(path) === (values.proofs ?? false))
  } catch (problem) {
    if (!(problem instanceof UnknownTest)) throw problem
    process.stderr.write(`${problem.message}\n`)
    process.exit(2)
  }
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

/** @param nth they look one after the other: two at once would both take the same idle core */
async function workWhenIdle(nth) {
  await sleep((nth * IDLE_LOOK_MS) / SPARE_JOBS)
  while (waiting.length > 0 || others.length > 0) {
    const before = coreTimes()
    await sleep(IDLE_LOOK_MS)
    const now = coreTimes()
    const idleShare = (now.idle - before.idle) / (now.all - before.all)
    if (idleShare >= IDLE_SHARE_LEAST) await work([(waiting.length > 0 ? waiting : others).splice(0, 1)])
  }
}

/** Milliseconds since the boot, of all cores together. */
function coreTimes() {
  const times = cpus().map((core) => core.times)
  const sum = (values) => values.reduce((one, other) => one + other, 0)
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((core) => Object.values(core))) }
}

/** @param lists of files, the first to be worked off first */
async function work(lists) {
  const next = () => lists.find((list) => list.length > 0)?.shift()
  for (let file = next(); file !== undefined; file = next()) {
    const startedAt = performance.now()
    const result = await runFile(file)
    passed += result.passed
    failed += result.failed
    const tookS = (performance.now() - startedAt) / 1_000
    const cpu = values.times ? `, ${result.cpuS.toFixed(1)} s of CPU` : ''
    if (values.times || tookS > SLOW_S) process.stdout.write(`${tookS.toFixed(1)} s${cpu} ${file}\n`)
    if (result.text !== '') process.stdout.write(`# ${file}\n${result.text}`)
  }
}

/** Never throws: what a file did wrong is in the text. */
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
      // A grandchild that outlives the test would hold the pipes for ever. What lies in them is read first,
      // however long we stood still.
      setTimeout(() => setImmediate(done), PIPES_MS).unref()
    })
    child.once('error', (problem) =>
      resolve({ ...summaryOf({ stdout, stderr: String(problem), code: null, signal: null }), cpuS: 0 }),
    )
  })
}

/**
 * Seconds of CPU of the children that have ended since the last call, with those that they waited for; 0
 * where the system does not tell. Servers that outlive their file, as the Postgres of all tests does, are in
 * none.
 */
function cpuOfEnded() {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')
  const ended = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S
  const since = ended - endedCpuS
  endedCpuS = ended
  return since
}

/** A pattern for tap that holds these words wherever they stand, and in either case. */
function literal(words) {
  return `/${words.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/i`
}
