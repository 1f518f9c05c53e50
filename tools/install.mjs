// Installs a folder with a lock file of its own, when the installed packages differ from the lock file.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { showProgress } from './progress.mjs'

/**
 * Installs a folder and ends the process when npm fails. The compiler is a dev dependency, which npm omits
 * under NODE_ENV=production; stdout stays free for the caller.
 * @param folder folder with package.json and package-lock.json
 */
export async function install(folder) {
  const problem = await problemOfInstalling(folder)
  if (problem === null) return
  process.stderr.write(`the dependencies could not be installed: ${problem}\n`)
  process.exit(1)
}

/** Installs an optional folder: prints a failure and goes on. */
export async function installIfPossible(folder) {
  const problem = await problemOfInstalling(folder)
  if (problem !== null) process.stderr.write(`${folder} could not be installed: ${problem}\n`)
}

async function problemOfInstalling(folder) {
  const wanted = packages(`${folder}/package-lock.json`)
  if (!isStale(folder, wanted)) return null
  const what = `installing ${folder === '.' ? 'the dependencies' : folder}`
  const stopShowing = showProgress(what, () => howFar(folder, wanted))
  try {
    return await runNpm(folder)
  } finally {
    stopShowing()
  }
}

/**
 * Runs npm without the packages' scripts: the node itself makes the links that the script of Postgres would
 * make. @returns why npm failed, or null
 */
function runNpm(folder) {
  const npm = process.env.npm_execpath
  const [command, head] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const args = [
    ...head,
    'ci',
    '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=error',
  ]
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] })
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (status, signal) =>
      resolve(status === 0 ? null : `npm ended with ${status ?? signal}`),
    )
  })
}

/**
 * Progress of npm, which creates all folders first and then unpacks: a package is there when its own
 * package.json is.
 */
function howFar(folder, wanted) {
  const places = Object.entries(wanted)
    .filter(([at, { optional }]) => at !== '' && optional !== true)
    .map(([at]) => at)
  const there = places.filter((at) => existsSync(`${folder}/${at}/package.json`)).length
  return `${there} of ${places.length} packages`
}

/**
 * Compares the lock file with npm's own record of the installed packages; a separate stamp could be wrong.
 */
function isStale(folder, wanted) {
  const there = packages(`${folder}/node_modules/.package-lock.json`)
  return Object.entries(wanted).some(([at, entry]) => {
    if (at === '') return false
    const found = there[at]
    // Binaries of other platforms are optional, and npm omits them.
    if (found === undefined) return entry.optional !== true
    return found.version !== entry.version || found.integrity !== entry.integrity
  })
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}
