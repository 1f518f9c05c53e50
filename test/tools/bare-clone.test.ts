import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runToEnd } from '../support/nodes/node.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What Node says of a package that a module names and that is not installed. */
const PACKAGE_MISSING = /ERR_MODULE_NOT_FOUND|Cannot find package/
/** What `install` says, once npm has had its answer from the registry. */
const NOT_INSTALLED = /could not be installed/
/** Commands that need no package; --dry-run keeps a release from running the others. */
const WITHOUT_PACKAGES = ['front-end.mjs', 'prove.mjs', 'release.mjs', 'sbom.mjs']

/** The tools of a clone without node_modules. Its lock files name one package: npm takes seconds for all. */
function bareClone(t: Test): string {
  // Outside of this repository, whose packages Node would find.
  const folder = temporaryFolder(t, 'bare-clone')
  for (const name of ['tools/clients', 'docs', 'src', 'bench', 'test/prove', 'deploy/kubernetes'])
    mkdirSync(join(folder, name), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'tools')).filter((one) => one.endsWith('.mjs')))
    cpSync(join(ROOT, 'tools', name), join(folder, 'tools', name))
  for (const name of ['tsconfig.json', 'tsconfig.dashboard.json', 'README.md', 'CHANGELOG.md'])
    cpSync(join(ROOT, name), join(folder, name))
  const clone = { name: 'clone', version: '1.0.0', license: 'Apache-2.0', dependencies: { a: '1.0.0' } }
  const packages = { '': clone, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-AA==' } }
  for (const place of ['', 'tools', 'tools/clients']) {
    writeFileSync(join(folder, place, 'package.json'), JSON.stringify(clone))
    const lock = { ...clone, lockfileVersion: 3, requires: true, packages }
    writeFileSync(join(folder, place, 'package-lock.json'), JSON.stringify(lock))
  }
  return folder
}

/** Names of the tools that scripts of package.json run. */
function namedTools(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>
  }
  const found = Object.values(scripts).flatMap((script) => /tools\/([\w-]+\.mjs)/.exec(script)?.[1] ?? [])
  return [...new Set(found)]
}

/** A registry that has no package. */
async function emptyRegistry(t: Test): Promise<string> {
  const registry = createServer((_, response) => response.writeHead(404).end('{}'))
  t.teardown(() => registry.close())
  await once(registry.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
}

async function runBare(folder: string, name: string, registry: string) {
  const settings = {
    HOME: folder,
    npm_config_registry: registry,
    npm_config_replace_registry_host: 'always',
    npm_config_fetch_retries: '0',
  }
  const args = name === 'release.mjs' ? ['--dry-run'] : []
  const { code, stdout, stderr } = await runToEnd(settings, [
    process.execPath,
    join(folder, 'tools', name),
    ...args,
  ])
  return { code, text: stdout + stderr }
}

t.test('each command of package.json installs its packages before it imports one', async (t) => {
  const [folder, registry] = [bareClone(t), await emptyRegistry(t)]
  for (const name of namedTools()) {
    const { code, text } = await runBare(folder, name, registry)
    t.notMatch(text, PACKAGE_MISSING, name)
    if (WITHOUT_PACKAGES.includes(name)) continue
    t.match(text, NOT_INSTALLED, name)
    t.equal(code, 1, name)
  }
})

t.test('detects a command that imports a package before it installs its packages', async (t) => {
  const folder = bareClone(t)
  writeFileSync(join(folder, 'tools/planted.mjs'), "import 'esbuild'\nimport './build.mjs'\n")
  t.match((await runBare(folder, 'planted.mjs', await emptyRegistry(t))).text, PACKAGE_MISSING)
})
