// Installs a folder with a lock file of its own, when the installed packages differ from the lock file.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { showProgress } from './progress.mjs'

/** What to check when no package comes. */
const REGISTRY_HINT = 'can this machine reach the registry? `npm config get registry` prints its address'

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
  const what = `installing ${folder === '.' ? 'the dependencies' : folder} (usually 20 to 90 s)`
  const answers = { lists: 0, packages: 0 }
  const stopShowing = showProgress(what, () => howFar(folder, wanted, answers), { hint: REGISTRY_HINT })
  try {
    return await runNpm(folder, answers)
  } finally {
    stopShowing()
  }
}

/**
 * Runs npm without the packages' scripts: the node itself makes the links that the script of Postgres would
 * make.
 * @param answers counts what the registry sent
 * @returns why npm failed, or null
 */
function runNpm(folder, answers) {
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
    '--loglevel=http',
  ]
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', process.stderr, 'pipe'] })
    createInterface(child.stderr).on('line', (line) => {
      if (/^npm http /i.test(line)) answers[/\.tgz\b/.test(line) ? 'packages' : 'lists']++
      else if (!/^npm (warn|notice)\b/i.test(line)) process.stderr.write(`${line}\n`)
    })
    child.once('error', ({ message }) => resolve(message))
    child.once('close', (status, signal) =>
      resolve(status === 0 ? null : `npm ended with ${status ?? signal}`),
    )
  })
}

/**
 * Progress of npm, which asks the registry first, then creates all folders, downloads, and unpacks what has
 * come: a package is there when its own package.json is.
 */
function howFar(folder, wanted, answers) {
  const places = Object.entries(wanted)
    .filter(([at, { optional }]) => at !== '' && optional !== true)
    .map(([at]) => at)
  const there = places.filter((at) => existsSync(`${folder}/${at}/package.json`)).length
  if (there === 0 && answers.packages === 0)
    return answers.lists === 0
      ? `waiting for the registry, ${places.length} packages to load`
      : `reading lists of versions, ${answers.lists} have come, ${places.length} packages to load`
  const loaded = answers.packages === 0 ? '' : `downloads: ${answers.packages}, `
  return `${loaded}${there} of ${places.length} packages unpacked`
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
