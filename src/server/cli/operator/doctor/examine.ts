import type { Generation } from '../../../config.ts'
import { addresses } from './addresses.ts'
import { clusters } from './clusters.ts'
import { dataDirectory } from './data-directory.ts'
import { descriptors } from './descriptors.ts'
import { egress } from './egress.ts'
import { bad, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'
import { firstKeys } from './first-keys.ts'
import { hardKill, listenerMigration } from './kernel.ts'
import { lookAt, type Look } from './look.ts'
import { memory } from './memory.ts'
import { frontEnd, platform } from './platform.ts'
import { ports } from './ports.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { rootKey } from './root-key.ts'
import { catalogue, settings } from './settings.ts'
import { storage } from './storage.ts'
import { workers } from './workers.ts'

/**
 * Milliseconds that a check of doctor may take in all: most checks have shorter limits of their own.
 * Decision.
 */
export const CHECK_MS_MAX = 10_000

export interface Check<T> {
  readonly name: string
  /** Remedy for a check that does not end. */
  readonly stuck: string
  /** @param signal aborted at the end of the check's time */
  look(at: T, signal: AbortSignal): readonly Finding[] | Promise<readonly Finding[]>
}

/** Checks that need no installation. */
const OF_MACHINE: readonly Check<Generation>[] = [
  {
    name: 'platform',
    stuck: 'use a supported pair of Node and glibc (docs/operate/requirements.md)',
    look: () => [platform()],
  },
  {
    name: 'front_end',
    stuck: 'reinstall Sluice with this Node.js version',
    look: async (_, signal) => [await frontEnd({ signal })],
  },
  { name: 'settings', stuck: 'check the files named in the settings', look: settings },
  { name: 'catalogue', stuck: 'check the SLUICE_CATALOG file', look: catalogue },
  {
    name: 'tls',
    stuck: 'check the SLUICE_TLS_CERT and SLUICE_TLS_KEY files',
    look: ({ config }) => addresses(config),
  },
  {
    name: 'egress_allow',
    stuck: 'check SLUICE_EGRESS_ALLOW and SLUICE_EGRESS_CA',
    look: ({ config }) => egress(config),
  },
  { name: 'clusters', stuck: "check the folder with root's Postgres clusters", look: () => clusters() },
  { name: 'hard_kill', stuck: 'install setpriv (util-linux)', look: () => [hardKill()] },
]

/** Checks in the order in which a start depends on them. */
const OF_INSTALLATION: readonly Check<Look>[] = [
  {
    name: 'descriptors',
    stuck: 'check `ulimit -n`',
    look: (at) => descriptors(at, at.generation.config.streams),
  },
  { name: 'memory', stuck: 'check the control group of the node', look: (at) => memory(at) },
  { name: 'data_directory', stuck: 'check that the SLUICE_DATA disk is mounted', look: dataDirectory },
  { name: 'port', stuck: 'set SLUICE_PORT and SLUICE_ADMIN_PORT', look: ports },
  { name: 'postgres', stuck: 'check DATABASE_URL and the server', look: postgres },
  {
    name: 'redis',
    stuck: 'check REDIS_URL and the server',
    look: async (at) => [await redis(at)],
  },
  { name: 'storage', stuck: 'check that the SLUICE_OBJECTS disk or server is available', look: storage },
  {
    name: 'root_key',
    stuck: 'check the file that SLUICE_ROOT_KEY_FILE names',
    look: ({ generation }) => [rootKey(generation.config)],
  },
  {
    name: 'first_keys',
    stuck: 'check that the SLUICE_DATA disk is mounted',
    look: ({ generation }) => firstKeys(generation.config),
  },
  { name: 'workers', stuck: 'check the log of the node', look: workers },
  {
    name: 'listener_migration',
    stuck: 'sysctl -w net.ipv4.tcp_migrate_req=1',
    look: ({ running }) => [listenerMigration(running !== null)],
  },
]

/** Checks everything that a node needs, concurrently, and changes nothing. */
export async function examine(generation: Generation): Promise<readonly Finding[]> {
  const at = lookAt(generation)
  const found = await Promise.all([
    runChecks(OF_MACHINE, generation),
    'finding' in at ? [at.finding] : runChecks(OF_INSTALLATION, at),
  ])
  return found.flat()
}

/**
 * Findings in the order of the checks. A check that fails, or does not end in time, gives a finding and does
 * not affect the others.
 */
export async function runChecks<T>(
  checks: readonly Check<T>[],
  at: T,
  msMax = CHECK_MS_MAX,
): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check, at, msMax)))
  return found.flat()
}

async function runCheck<T>(
  { name, stuck, look }: Check<T>,
  at: T,
  msMax: number,
): Promise<readonly Finding[]> {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([bad(name, `the check did not finish within ${msMax / 1_000} s`, stuck)])
      ending.abort()
    }, msMax)
  })
  try {
    return await Promise.race([look(at, ending.signal), late])
  } catch (cause) {
    return [bad(name, `the check failed: ${reasonOf(cause)}`, stuck)]
  } finally {
    clearTimeout(timer)
  }
}
