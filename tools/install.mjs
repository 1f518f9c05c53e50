// Installs a folder that has a lock file of its own, when what is installed is not what the lock file says.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Ends the process when npm fails. The compiler is a dev dependency, which npm leaves out under NODE_ENV=production;
 * stdout stays the caller's.
 * @param folder holds package.json and package-lock.json
 */
export function install(folder) {
  const problem = problemOfInstalling(folder)
  if (problem === null) return
  process.stderr.write(`the dependencies could not be installed: ${problem}\n`)
  process.exit(1)
}

/** For what others can do without: says that it is not there, and goes on. */
export function installIfPossible(folder) {
  const problem = problemOfInstalling(folder)
  if (problem !== null) process.stderr.write(`${folder} could not be installed: ${problem}\n`)
}

function problemOfInstalling(folder) {
  if (!isStale(folder)) return null
  process.stderr.write(`installing ${folder === '.' ? 'the dependencies' : folder}\n`)
  const npm = process.env.npm_execpath
  const [command, head] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const { status, error } = spawnSync(
    command,
    [...head, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] },
  )
  return status === 0 ? null : (error?.message ?? `npm ended with ${status}`)
}

/** Compares what the lock file wants with what npm says it installed; no stamp of ours that could lie. */
function isStale(folder) {
  const wanted = packages(`${folder}/package-lock.json`)
  const there = packages(`${folder}/node_modules/.package-lock.json`)
  return Object.entries(wanted).some(([at, entry]) => {
    if (at === '') return false
    const found = there[at]
    // Binaries of other platforms are optional, and npm leaves them out.
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
