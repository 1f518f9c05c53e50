// Installs a folder that has a lock file of its own, when what is installed is not what the lock file says.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** @param folder holds package.json and package-lock.json */
export function install(folder) {
  if (!isStale(folder)) return
  process.stderr.write(`installing ${folder}\n`)
  const npm = process.env.npm_execpath
  const [command, head] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const ran = spawnSync(
    command,
    [...head, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] },
  )
  if (ran.status !== 0) process.exit(ran.status ?? 1)
}

function isStale(folder) {
  const want = packages(`${folder}/package-lock.json`)
  const have = packages(`${folder}/node_modules/.package-lock.json`)
  return Object.entries(want).some(
    ([at, entry]) =>
      at !== '' &&
      !(at in have
        ? have[at].version === entry.version && have[at].integrity === entry.integrity
        : entry.optional === true),
  )
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}
