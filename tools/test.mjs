// Builds, and runs test files side by side, each as a plain `node file`; prints failures whole, one line for each skipped test,
// and ends with `N passed, N failed`. Arguments: files under dist/test (all of them without), `--times`.
// tap's own runner puts two loader hooks before every test: they cost each process more CPU than most tests do.
import { spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { summaryOf } from './tap-summary.mjs'

/** Decision: two test files at once. Many of them start several processes of their own. */
const JOBS = 2
/** Decision: beside them one of those that for most of their time wait for processes, leases and delays of the product's own. */
const isWaiting = (path) => /^dist\/test\/(?:prove|server\/supervisor)\//.test(path)
/** Decision: a test that has said nothing else may take 300 s, on a machine that does ten other things. */
const TIMEOUT_S = 300
/** Behind tap's own limit, which names the test: for a file whose loop is blocked, in milliseconds. */
const KILL_MS = (TIMEOUT_S + 30) * 1_000
/** A file that takes longer is named: the suite is to stay short. */
const SLOW_S = 30
const STDERR_CHARS_MAX = 64 * 1024
/** From the end of a file to the end of what it printed, in milliseconds. */
const PIPES_MS = 2_000

const { values, positionals } = parseArgs({ allowPositionals: true, options: { times: { type: 'boolean' } } })
process.chdir(fileURLToPath(new URL('../', import.meta.url)))
// A test that was deleted or renamed would otherwise go on running from its old output.
if (positionals.length === 0) {
  rmSync('dist/test', { recursive: true, force: true })
  rmSync('dist/.tsbuildinfo', { force: true })
}
build()
const files = positionals.length > 0 ? positionals : testFiles()
const waiting = files.filter(isWaiting)
const others = files.filter((path) => !isWaiting(path))
const running = new Set()
let [passed, failed] = [0, 0]

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal)
    process.exit(1)
  })
}
await Promise.all([work([waiting]), ...Array.from({ length: JOBS }, () => work([others, waiting]))])
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** @param lists of files, the first to be worked off first */
async function work(lists) {
  const next = () => lists.find((list) => list.length > 0)?.shift()
  for (let file = next(); file !== undefined; file = next()) {
    const startedAt = performance.now()
    const result = await runFile(file)
    passed += result.passed
    failed += result.failed
    const tookS = (performance.now() - startedAt) / 1_000
    if (values.times || tookS > SLOW_S) process.stdout.write(`${tookS.toFixed(1)} s ${file}\n`)
    if (result.text !== '') process.stdout.write(`# ${file}\n${result.text}`)
  }
}

/** Never throws: what a file did wrong is in the text. */
function runFile(file) {
  return new Promise((resolve) => {
    let [stdout, stderr] = ['', '']
    const env = { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S) }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-STDERR_CHARS_MAX)))
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      const done = () => resolve(summaryOf({ stdout, stderr, code, signal }))
      child.once('close', done)
      // A grandchild that outlives the test would hold the pipes for ever.
      setTimeout(done, PIPES_MS).unref()
    })
    child.once('error', (problem) => resolve(summaryOf({ stdout, stderr: String(problem), code: null, signal: null })))
  })
}

/** The long ones first: at the end both jobs should have something to do. */
function testFiles() {
  const found = readdirSync('dist/test', { recursive: true }).filter((path) => path.endsWith('.test.js'))
  const isLong = (path) => /^(?:prove|workers\/clip|server\/(?:cli|main|supervisor))\//.test(path)
  return found.sort().sort((a, b) => Number(isLong(b)) - Number(isLong(a))).map((path) => join('dist/test', path))
}
