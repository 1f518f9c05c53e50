// `npm start`: installs when the lock file asks for it, builds when a source changed, then becomes the supervisor in
// this very process, so that the pid which npm signals is the one that drains.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('..', import.meta.url)
// The data directory and relative files belong to the folder that the caller stands in: npm's own is the clone.
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
  const { status, error } = spawnSync(command, [...before, ...args], { stdio: ['ignore', process.stderr, process.stderr] })
  if (status === 0) return
  process.stderr.write(`the dependencies could not be installed${error === undefined ? '' : `: ${error.message}`}\n`)
  process.exit(1)
}

function hashOfSources() {
  const hash = createHash('sha256')
  for (const file of ['tsconfig.json', 'package-lock.json', 'tools/build.mjs', ...['src', 'bench', 'test'].flatMap(filesBelow)]) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${file}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort()
}
