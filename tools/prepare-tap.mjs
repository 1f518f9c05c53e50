// Compiles the tests and, when its configuration changed, rebuilds tap's plugin set (without that, tap's first
// run after a change of plugins fails).
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from './build.mjs'

// A test that was deleted or renamed would otherwise go on running from its old output.
rmSync('dist/test', { recursive: true, force: true })
rmSync('dist/.tsbuildinfo', { force: true })
build()

const stamp = createHash('sha256')
  .update(readFileSync('.taprc'))
  .update(readFileSync('node_modules/tap/package.json'))
  .digest('hex')
if (!existsSync('.tap/.stamp') || readFileSync('.tap/.stamp', 'utf8') !== stamp) {
  rmSync('.tap/plugins', { recursive: true, force: true })
  const built = spawnSync(process.execPath, ['node_modules/tap/dist/esm/run.mjs', 'build'], { stdio: 'inherit' })
  if (built.status !== 0) process.exit(built.status ?? 1)
  writeFileSync('.tap/.stamp', stamp)
}
