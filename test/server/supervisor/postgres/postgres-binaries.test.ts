import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  findPostgresBinaries,
  shippedBinaries,
  type ShippedBinaries,
} from '../../../../src/server/supervisor/postgres/postgres-binaries.ts'
import { findSetpriv, stepDownAccount } from '../../../../src/server/supervisor/fleet/step-down.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

interface Install {
  readonly shipped: ShippedBinaries
  readonly cacheDir: string
}

/** A copy of the package as `npm ci --ignore-scripts` leaves it: without links. */
function install(t: { teardown(done: () => void): unknown }): Install {
  const home = temporaryFolder(t, 'binaries')
  chmodSync(home, 0o755)
  const { native, name } = shippedBinaries()
  const copy = join(home, 'package', 'native')
  cpSync(native, copy, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() })
  const cacheDir = join(home, 'cache')
  mkdirSync(cacheDir)
  chmodSync(cacheDir, 0o755)
  return { shipped: { native: copy, name }, cacheDir }
}

const asRoot = process.getuid?.() === 0
const input = { account: stepDownAccount(), setpriv: findSetpriv() }

t.test('creates the links that are missing after an install without scripts', async (t) => {
  const { shipped, cacheDir } = install(t)
  t.equal(await findPostgresBinaries({ ...input, cacheDir }, shipped), join(shipped.native, 'bin'))
  t.ok(
    readdirSync(join(shipped.native, 'lib'), { withFileTypes: true }).some((entry) => entry.isSymbolicLink()),
  )
})

t.test(
  'programs in a closed home are copied once to where the account can run them',
  { skip: !asRoot && 'needs root' },
  async (t) => {
    const { shipped, cacheDir } = install(t)
    chmodSync(join(shipped.native, '..'), 0o700)
    const bin = await findPostgresBinaries({ ...input, cacheDir }, shipped)
    t.equal(bin, join(cacheDir, shipped.name, 'native', 'bin'))
    const { mtimeMs } = statSync(bin)
    await findPostgresBinaries({ ...input, cacheDir }, shipped)
    t.equal(statSync(bin).mtimeMs, mtimeMs)
    t.same(readdirSync(cacheDir), [shipped.name])
  },
)

t.test('programs that cannot run are refused with their error', async (t) => {
  const { shipped, cacheDir } = install(t)
  const lib = join(shipped.native, 'lib')
  for (const name of readdirSync(lib)) rmSync(join(lib, name), { recursive: true })
  await t.rejects(
    findPostgresBinaries({ ...input, cacheDir }, shipped),
    /do not run on this machine \([^]*(librar|shared)[^]*DATABASE_URL/,
  )
})
