// `npm pack` runs it before (and with --end behind) what it does: builds, and lays the lock file into the
// package, under the one name that npm lets it have there. `npx` on the package does not look at it; `npm ci`
// in the unpacked package installs by it, each file held to its hash.
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SHRINKWRAP = 'npm-shrinkwrap.json'
const SBOM = 'sbom.cdx.json'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
// npm takes it before the lock file wherever it finds both: it must not outlive the pack, nor one that was
// cut.
for (const file of [SHRINKWRAP, SBOM]) rmSync(file, { force: true })
if (!process.argv.includes('--end')) {
  const { install } = await import('./install.mjs')
  await install('.')
  // What was built of sources that are gone would be packed too.
  for (const old of ['dist/src', 'dist/bundle', 'dist/typebox', 'dist/.page', 'dist/.tsbuildinfo'])
    rmSync(old, { recursive: true, force: true })
  const { build } = await import('./build.mjs')
  await build()
  copyFileSync('package-lock.json', SHRINKWRAP)
  const { sbom } = await import('./sbom.mjs')
  writeFileSync(SBOM, sbom())
}
