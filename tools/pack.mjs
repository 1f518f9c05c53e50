// `npm pack` runs it before (and with --end behind) what it does: builds, and lays the lock file into the package in the one form that npm
// installs a package by, so that `npx` fetches the versions that were tested, each held to its hash.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const SHRINKWRAP = 'npm-shrinkwrap.json'

/**
 * @param lock the text of package-lock.json
 * @returns that of npm-shrinkwrap.json: what only builds and tests need is left out
 */
export function shrinkwrapOf(lock) {
  const { name, version, lockfileVersion, requires, packages } = JSON.parse(lock)
  const { devDependencies: _, ...own } = packages['']
  const needed = Object.entries(packages).filter(([at, { dev }]) => at !== '' && dev !== true)
  return `${JSON.stringify({ name, version, lockfileVersion, requires, packages: { '': own, ...Object.fromEntries(needed) } }, null, 2)}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  // npm takes it before the lock file wherever it finds both: it must not outlive the pack, nor one that was cut.
  rmSync(SHRINKWRAP, { force: true })
  if (!process.argv.includes('--end')) {
    const { install } = await import('./install.mjs')
    install('.')
    // What was built of sources that are gone would be packed too.
    for (const old of ['dist/src', 'dist/.page', 'dist/.tsbuildinfo']) rmSync(old, { recursive: true, force: true })
    const { build } = await import('./build.mjs')
    build()
    writeFileSync(SHRINKWRAP, shrinkwrapOf(readFileSync('package-lock.json', 'utf8')))
  }
}
