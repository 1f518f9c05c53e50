// `npm start`: installs when the lock file requires it, builds when a source changed, then becomes the
// supervisor in this process, so that the pid that npm signals is the one that drains.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

if (!existsSync('node_modules/.package-lock.json'))
  process.stderr.write(
    'first start: installs the dependencies and compiles, usually 1 to 3 minutes; later starts take seconds\n',
  )
await install('.')
const sources = hashOfSources()
const stamp = 'dist/.start-stamp'
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sources) {
  await build()
  mkdirSync('dist', { recursive: true })
  writeFileSync(stamp, sources)
}
const { run } = await import('../dist/bundle/run.js')
const code = await run(['serve'])
process.exit(code ?? 0)

/** Builds in a process that ends: the service of esbuild and the build's heap would stay with the supervisor. */
function build() {
  const child = spawn(process.execPath, ['tools/build.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] })
  const end = (signal) => {
    child.kill(signal)
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)
  return new Promise((resolve) => {
    child.once('error', ({ message }) => {
      process.stderr.write(`the build could not be started: ${message}\n`)
      process.exit(1)
    })
    child.once('exit', (status) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, end)
      if (status === 0) resolve()
      else process.exit(status ?? 1)
    })
  })
}

function hashOfSources() {
  const hash = createHash('sha256')
  const settings = [
    'tsconfig.json',
    'tsconfig.dashboard.json',
    'package-lock.json',
    'README.md',
    'CHANGELOG.md',
  ]
  const tools = readdirSync('tools')
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => join('tools', name))
  for (const file of [
    ...settings,
    ...tools.sort(),
    ...['docs', 'src', 'bench', 'test'].flatMap(filesBelow),
  ]) {
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
