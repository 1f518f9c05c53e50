// `npm start`: installs when the lock file asks for it, builds when a source changed, then becomes the
// supervisor in this very process, so that the pid which npm signals is the one that drains.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('..', import.meta.url)
process.chdir(root.pathname)

if (isInstallStale()) install()
const sources = hashOfSources()
const stamp = 'dist/.start-stamp'
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sources) {
  const { build } = await import('./build.mjs')
  build()
  mkdirSync('dist', { recursive: true })
  writeFileSync(stamp, sources)
}
const { run } = await import('../dist/src/server/cli/run.js')
const code = await run(['serve'])
process.exit(code ?? 0)

/** Compares what the lock file wants with what npm says it installed; no stamp of ours that could lie. */
function isInstallStale() {
  const wanted = packagesOf('package-lock.json')
  const there = packagesOf('node_modules/.package-lock.json')
  return Object.entries(wanted).some(([at, entry]) => {
    if (at === '') return false
    const found = there[at]
    // Binaries of other platforms are optional, and npm leaves them out.
    if (found === undefined) return entry.optional !== true
    return found.version !== entry.version || found.integrity !== entry.integrity
  })
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}

/** The compiler is a dev dependency, which npm leaves out under NODE_ENV=production; stdout stays ours. */
function install() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env.npm_execpath
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const stdio = ['ignore', process.stderr, process.stderr]
  const { status, error } = spawnSync(command, [...before, ...args], { stdio })
  if (status === 0) return
  const reason = error?.message ?? `npm ended with ${status}`
  process.stderr.write(`the dependencies could not be installed: ${reason}\n`)
  process.exit(1)
}

function hashOfSources() {
  const hash = createHash('sha256')
  const settings = ['tsconfig.json', 'package-lock.json', 'tools/build.mjs']
  for (const file of [...settings, ...['src', 'bench', 'test'].flatMap(filesBelow)]) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${file}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({ path: join(folder, entry.name), isFolder: entry.isDirectory() }))
    .flatMap(({ path, isFolder }) => (isFolder ? filesBelow(path) : [path]))
    .sort()
}
