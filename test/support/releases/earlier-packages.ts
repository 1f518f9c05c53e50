/** Packages of an earlier tree: those of the clone by links, and those that the clone has no more. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { plainEnvironment } from '../load/load.ts'
import { ROOT } from '../source.ts'

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly optional?: boolean
}

/** Packages by their places, as a lock file has them. */
export type Packages = Readonly<Record<string, Entry>>

/** How the packages come. */
export type Coming =
  { readonly kind: 'linked'; readonly absent: readonly string[] } | { readonly kind: 'installed' }

const MODULES = 'node_modules'
/** A package that stands in none of another. */
const TOP = /^node_modules\/(?:@[^/]+\/)?[^/@]+$/
/** Packages that are fetched one by one; more of them are installed with all others. Decision. */
const FETCHED_MAX = 8

/** @param wanted of the earlier tree @param there of the clone */
export function comingOf(wanted: Packages, there: Packages): Coming {
  const others = Object.entries(wanted).filter(
    ([place, { version, integrity, optional }]) =>
      place !== '' &&
      optional !== true &&
      (there[place]?.version !== version || there[place]?.integrity !== integrity),
  )
  // Packages that are linked find their own dependencies in the clone: none of these may be another version.
  const isLinked = others.every(([place]) => TOP.test(place) && there[place] === undefined)
  return isLinked && others.length <= FETCHED_MAX
    ? { kind: 'linked', absent: others.map(([place]) => place) }
    : { kind: 'installed' }
}

/** @returns why they do not come; null: they are there */
export async function bringPackages(clone: string, folder: string): Promise<string | null> {
  const wanted = packagesOf(join(folder, 'package-lock.json'))
  const installed = join(clone, MODULES, '.package-lock.json')
  const coming = comingOf(
    wanted,
    packagesOf(existsSync(installed) ? installed : join(clone, 'package-lock.json')),
  )
  if (coming.kind === 'installed') return installAll(folder)
  linkAll(clone, folder)
  for (const place of coming.absent) {
    const why = fetchOne(folder, place, wanted[place] ?? {})
    if (why !== null) return why
  }
  return null
}

function packagesOf(file: string): Packages {
  const { packages = {} } = JSON.parse(readFileSync(file, 'utf8')) as { readonly packages?: Packages }
  return packages
}

async function installAll(folder: string): Promise<string | null> {
  const { installIfPossible } = (await import(pathToFileURL(join(ROOT, 'tools/install.mjs')).href)) as {
    installIfPossible(place: string): Promise<void>
  }
  await installIfPossible(folder)
  return existsSync(join(folder, MODULES))
    ? null
    : 'the packages of the earlier commit could not be installed'
}

/** Links each package by itself, as the folder holds others too. */
function linkAll(clone: string, folder: string): void {
  const from = join(clone, MODULES)
  mkdirSync(join(folder, MODULES))
  for (const name of readdirSync(from)) {
    const within = name.startsWith('@') ? readdirSync(join(from, name)).map((one) => join(name, one)) : [name]
    if (name.startsWith('@')) mkdirSync(join(folder, MODULES, name))
    for (const one of within) symlinkSync(join(from, one), join(folder, MODULES, one))
  }
}

/** Its files alone: no script of it runs. */
function fetchOne(folder: string, place: string, { version, integrity }: Entry): string | null {
  const name = place.slice(`${MODULES}/`.length)
  const args = ['pack', `${name}@${version}`, '--json', '--ignore-scripts', '--loglevel=error']
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  if (status !== 0) return `${name}@${version} of the earlier commit does not come: ${stderr.trim()}`
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly integrity: string }[]
  if (packed === undefined || packed.integrity !== integrity) return `${name}@${version} has another hash`
  rmSync(join(folder, place), { recursive: true, force: true })
  mkdirSync(join(folder, place), { recursive: true })
  const file = join(folder, packed.filename)
  const unpacked = spawnSync('tar', ['-xzf', file, '-C', join(folder, place), '--strip-components=1'])
  return unpacked.status === 0 ? null : `${packed.filename} cannot be unpacked`
}
