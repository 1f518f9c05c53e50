// `npm pack` runs this before (and with --end after) its own work: it builds, and adds the lock file to the
// package under the one name that npm allows there. `npx` on the package ignores the file; `npm ci` in the
// unpacked package installs by it, each file checked against its hash.
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SHRINKWRAP = 'npm-shrinkwrap.json'
const SBOM = 'sbom.cdx.json'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
// npm prefers this file to the lock file: the file must not survive the pack, nor an interrupted one.
for (const file of [SHRINKWRAP, SBOM]) rmSync(file, { force: true })
if (!process.argv.includes('--end')) {
  const { install } = await import('./install.mjs')
  await install('.')
  // The pack would otherwise include output of deleted sources.
  for (const old of ['dist/src', 'dist/bundle', 'dist/typebox', 'dist/.page', 'dist/.tsbuildinfo'])
    rmSync(old, { recursive: true, force: true })
  const { build } = await import('./build.mjs')
  await build()
  copyFileSync('package-lock.json', SHRINKWRAP)
  const { sbom } = await import('./sbom.mjs')
  writeFileSync(SBOM, sbom())
}
