/** Exact versions of the programs of a run: figures of peers mean nothing without them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageVersion, programOnPath, versionOf } from '../peers.ts'
import { haproxyVersion } from '../peers/haproxy.ts'
import { ROOT } from '../text.ts'

/** Packages of a subject; those of `tools/peers` unless the product has them itself. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  portkey: ['@portkey-ai/gateway'],
  fastify: ['fastify', 'undici'],
  node: ['undici'],
  relay: ['undici'],
  tus: ['@tus/server', '@tus/file-store'],
  busboy: ['busboy'],
  'busboy-synced': ['busboy'],
  bullmq: ['bullmq'],
  'pg-boss': ['pg-boss'],
  'rate-limiter-flexible': ['rate-limiter-flexible'],
  'rate-limiter-flexible-redis': ['rate-limiter-flexible'],
  ajv: ['ajv'],
  zod: ['zod'],
  'typebox-0.34': ['@sinclair/typebox', 'typebox'],
}

/** @param subjects subjects with rows */
export function versionsOf(subjects: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = { sluice: packageVersion(ROOT), node: process.version }
  const nginx = subjects.includes('nginx') ? programOnPath('nginx') : null
  if (nginx !== null) found['nginx'] = versionOf(nginx).replace('nginx/', '')
  const haproxy = subjects.includes('haproxy') ? programOnPath('haproxy') : null
  if (haproxy !== null) found['haproxy'] = haproxyVersion(haproxy)
  for (const name of subjects.flatMap((subject) => PACKAGES[subject] ?? [])) {
    const folder = ['tools/peers/node_modules', 'node_modules']
      .map((place) => join(ROOT, place, name))
      .find((path) => existsSync(path))
    if (folder !== undefined) found[name] = packageVersion(folder)
  }
  return found
}
