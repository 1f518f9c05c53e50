/** The files of `deploy/`, as their readers see them. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { plainEnvironment } from '../load/load.ts'
import { ROOT } from '../source.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export const DEPLOY = `${ROOT}deploy/`

export type Member =
  string | number | boolean | null | undefined | readonly Member[] | { readonly [name: string]: Member }

export function deployFile(name: string): string {
  return readFileSync(DEPLOY + name, 'utf8')
}

/** Paths below `deploy/`, without what an operator made there. */
export function deployFiles(): readonly string[] {
  return readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(DEPLOY.length).replace(/^\//, ''))
    .filter((path) => !path.startsWith('secrets/'))
    .sort()
}

/**
 * The documents of a YAML text, merge keys resolved. Throws on invalid YAML, and on a key that stands twice.
 */
export function yamlOf(text: string): readonly Member[] {
  return parseAllDocuments(text, { merge: true, strict: true, uniqueKeys: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw problem
    return document.toJS() as Member
  })
}

/** The member at a path: names, and places in lists. */
export function at(value: Member, ...path: readonly (string | number)[]): Member {
  return path.reduce<Member>(
    (found, step) =>
      typeof found === 'object' && found !== null ? (Reflect.get(found, step) as Member) : undefined,
    value,
  )
}

export function listAt(value: Member, ...path: readonly (string | number)[]): readonly Member[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as readonly Member[]) : []
}

/** Name and value of each member, in order; empty for a value that is not an object. */
export function membersAt(
  value: Member,
  ...path: readonly (string | number)[]
): readonly (readonly [string, Member])[] {
  const found = at(value, ...path)
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? Object.entries(found) : []
}

/**
 * The environment of a service of compose.yaml as its container gets it: what compose takes from its own
 * environment by its default.
 */
export function environmentOf(compose: Member, service: string): Readonly<Record<string, string>> {
  const given = membersAt(compose, 'services', service, 'environment')
  return Object.fromEntries(
    given.map(([name, value]) => [name, String(value).replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  )
}

/** Name of the file of a secret of compose.yaml, in the folder of them. */
export function secretFile(secret: Member): string {
  return String(at(secret, 'file')).replace('./secrets/', '')
}

/** A folder with the settings file and the root key that deployments mount. */
export function plantedSecrets(t: Teardown): string {
  const folder = temporaryFolder(t, 'secrets')
  const stores = { DATABASE_URL: 'postgres://a:b@c/d', REDIS_URL: 'redis://c' }
  const bucket = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...stores, ...bucket }))
  writeFileSync(join(folder, 'root-key'), 'ab'.repeat(32))
  return folder
}

/** The exit code and output of a program of the machine; null where there is no such program. */
export function reported(
  command: string,
  args: readonly string[],
): { readonly code: number; readonly stated: string } | null {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  return error !== undefined || status === null ? null : { code: status, stated: `${stdout}${stderr}` }
}
