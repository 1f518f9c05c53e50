import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIB } from '../../../../schemas/limits/limits.ts'
import { FRONT_BYTES_MAX, NODE_REST_BYTES } from '../../../../schemas/operator/memory-limits.ts'
import type { Config, Generation } from '../../../config.ts'
import { firstKeysLeft } from '../../../main/safekeeping.ts'
import { listenerMigrationIsOn, mayAllowListenerMigration } from '../../../supervisor/checks.ts'
import { findSetpriv } from '../../../supervisor/fleet/step-down.ts'
import { outsideClusters, OUTSIDE_DIR } from '../../../supervisor/postgres/outside-clusters.ts'
import { connectionsMax, descriptorsIn } from '../../../http/connections.ts'
import { whyForeign } from '../../../supervisor/data-directory/data-directory.ts'
import { controlGroups, textOf } from '../../../config/control-groups.ts'
import { countsOf } from '../../../supervisor/fleet/scaling.ts'
import { countRoots } from '../../../main/extra-roots.ts'
import { reasonOf } from '../../parts/reasons.ts'
import { addresses, ports } from './addresses.ts'
import { bad, doubtful, type Finding, good } from './finding.ts'
import { type Look, lookAt } from './look.ts'
import { frontEnd, platform } from './platform.ts'
import { postgres } from './stores.ts'
import { redis } from './redis.ts'
import { rootKey } from './root-key.ts'
import { catalogue, settings } from './settings.ts'
import { storage } from './storage.ts'
import { workers } from './workers.ts'
import { roomAt, roomText, whyNotWritable } from './folders.ts'
import { AllowList } from '../../../egress/addresses.ts'

/** Milliseconds that a check of doctor may take in all: most checks have shorter limits of their own. Decision. */
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

/** Warns about the plain keys of the first start until they are deleted. */
export function firstKeys(config: Pick<Config, 'dataDir'>): readonly Finding[] {
  const advice = firstKeysLeft(config)
  return advice === null ? [] : [doubtful('first_keys', advice.detail, advice.fix)]
}

/** Checks whether the kernel ends the embedded services when the supervisor is killed. */
export function hardKill(find: () => string | null = findSetpriv): Finding {
  const isSafe = process.platform !== 'linux' || find() !== null
  if (isSafe) return good('hard_kill', 'embedded services stop with the node')
  const detail = 'a hard kill of the node may leave its services running until the next start'
  return doubtful('hard_kill', detail, 'install setpriv (util-linux)')
}

/** A node with the permission turns the setting on at its start, so that a setting that is off is no finding before the start. */
function listenerMigration(isRunning: boolean): Finding {
  const check = 'listener_migration'
  if (process.platform !== 'linux' || listenerMigrationIsOn()) return good(check, 'tcp_migrate_req is on')
  if (!isRunning && mayAllowListenerMigration()) return good(check, 'the node will turn tcp_migrate_req on')
  const detail = 'about 1 new connection in 65,000 is reset while fronts are replaced at full speed'
  return doubtful(
    check,
    detail,
    'sysctl -w net.ipv4.tcp_migrate_req=1 (for a container, set it as a sysctl of the container)',
  )
}

/**
 * Findings about embedded Postgres that root keeps for data directories that no longer exist. Such a cluster
 * only takes disk space, so the finding is not a warning. Only root can read the folders.
 */
export async function clusters(
  outsideDir = OUTSIDE_DIR,
  isRoot = process.getuid?.() === 0,
): Promise<readonly Finding[]> {
  if (!isRoot) return []
  const all = await outsideClusters(outsideDir)
  const unused = all.filter(({ isUsed, pid }) => !isUsed && pid === null)
  if (unused.length === 0)
    return all.length === 0
      ? []
      : [
          good(
            'clusters',
            `Postgres clusters in ${outsideDir}: ${all.length}; the data directory of each exists`,
          ),
        ]
  const named = unused
    .map(({ folder, dataDir }) => `${folder}${dataDir === null ? '' : ` (of ${dataDir})`}`)
    .join(', ')
  return [
    good(
      'clusters',
      `clusters whose data directory is gone: ${named}; \`sluice clusters remove --unused\` deletes all of them`,
    ),
  ]
}

/**
 * Descriptors of a process below which doctor warns: with fewer, and the default number of streams, a front can
 * hold fewer than 5,120 connections. Decision.
 */
export const DESCRIPTORS_MIN = 8_192

/**
 * The descriptors that a front may open: the limit of the running node, else the limit of this process, from
 * which a node would be started. Linux only.
 * @param streams concurrent long calls of a front to providers, which also need descriptors
 */
export function descriptors({ running }: Pick<Look, 'running'>, streams: number): readonly Finding[] {
  const limits = processLimits(running === null ? 'self' : String(running.pid))
  if (limits === null) return []
  const count = descriptorsIn(limits)
  const many = count === Infinity ? 'any number' : count
  const held = connectionsMax(streams, limits)
  const detail = `a front can open ${many} descriptors: enough for ${held} connections in addition to ${streams} streams`
  if (count >= DESCRIPTORS_MIN) return [good('descriptors', detail)]
  const fix = `raise the hard limit to ${DESCRIPTORS_MIN} or more (\`ulimit -Hn\`, LimitNOFILE= of a unit, --ulimit nofile= of a container), and restart`
  return [doubtful('descriptors', detail, fix)]
}

function processLimits(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1')
  } catch {
    return null
  }
}

/** Free bytes below which journals, settings and an embedded Postgres soon lack space. Decision. */
const DATA_FREE_BYTES_MIN = 1_024 * MIB

async function dataDirectory({
  generation: {
    config: { dataDir },
  },
  running,
}: Look): Promise<readonly Finding[]> {
  const fix = 'set SLUICE_DATA to a separate directory that this user can write to'
  const isThere = existsSync(dataDir)
  // When root runs doctor, the directory of a running node may belong to another user.
  const foreign = isThere && running === null ? whyForeign(dataDir) : null
  if (foreign !== null) return [bad('data_directory', `${dataDir} ${foreign}`, fix)]
  const problem = running === null ? await whyNotWritable([dataDir]) : null
  if (problem !== null) return [bad('data_directory', problem, fix)]
  const free = await roomAt(dataDir)
  const state =
    running !== null ? `, in use by the node (pid ${running.pid})` : isThere ? '' : ', not created yet'
  const detail = `${dataDir}${state}, ${roomText(free)}`
  if (free.bytes >= DATA_FREE_BYTES_MIN && free.inodesLeft === null) return [good('data_directory', detail)]
  return [
    doubtful(
      'data_directory',
      detail,
      'free up space on that disk: journals and an embedded Postgres are written there',
    ),
  ]
}

/**
 * Checks whether the control group of the running node, else that of this process, from which a node would be
 * started, allows the memory of its fronts; no finding without a limit.
 */
function memory({ running, generation }: Pick<Look, 'running' | 'generation'>): readonly Finding[] {
  const allowed = memoryLimit(running?.pid)
  return allowed === Infinity ? [] : [memoryFinding(allowed, countsOf(generation).fronts)]
}

export function memoryFinding(allowedBytes: number, fronts: number): Finding {
  const needed = fronts * FRONT_BYTES_MAX + NODE_REST_BYTES
  const most = `${fronts === 1 ? 'one front' : `${fronts} fronts`} and the other processes of the node may use ${mib(needed)}`
  const detail = `the control group allows ${mib(allowedBytes)}; ${most}`
  if (allowedBytes >= needed) return good('memory', detail)
  const fix = `raise the limit to ${mib(needed)} (MemoryMax= of the unit, or the container limit), or lower SLUICE_FRONTS`
  return doubtful('memory', `${detail}; processes above the limit are killed`, fix)
}

/** The smallest memory limit of the control groups of a process, in bytes; Infinity: no limit, or none in version 2 of control groups. */
function memoryLimit(pid: number | undefined): number {
  const limits = controlGroups('memory', { pid })
    .filter(({ version }) => version === 2)
    .map(({ folder }) => textOf(join(folder, 'memory.max')))
  return Math.min(Infinity, ...limits.filter((text) => /^\d+$/.test(text)).map(Number))
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}

/** Addresses that callers should rarely reach: a wide range may include them unintentionally. */
const RISKY: Readonly<Record<string, string>> = {
  '127.0.0.1': 'this machine',
  '::1': 'this machine',
  '169.254.169.254': 'the cloud metadata service',
  'fd00:ec2::254': 'a cloud metadata service',
  '100.100.100.200': 'a cloud metadata service',
  '168.63.129.16': 'the host of a virtual machine',
}
const ANY_PORT = 443

/** Findings about the settings of the egress gate; a setting without a value has no finding. */
export function egress({
  egressAllow,
  egressCaFile,
}: Pick<Config, 'egressAllow' | 'egressCaFile'>): readonly Finding[] {
  return [
    ...(egressAllow.length === 0 ? [] : [allowFinding(egressAllow)]),
    ...(egressCaFile === null ? [] : [rootsFinding(egressCaFile)]),
  ]
}

function allowFinding(entries: readonly string[]): Finding {
  const list = new AllowList(entries)
  // An entry with a port names one service intentionally.
  const risky = Object.keys(RISKY).filter((address) => list.schemeFor(address, ANY_PORT, 'caller') !== null)
  if (risky.length === 0)
    return good('egress_allow', `callers can reach ${entries.length} ranges that are not public`)
  const what = [...new Set(risky.map((address) => RISKY[address]))].join(', ')
  return doubtful(
    'egress_allow',
    `callers can reach ${what}`,
    'narrow SLUICE_EGRESS_ALLOW, or add a port to the entry',
  )
}

function rootsFinding(file: string): Finding {
  const fix = 'fix the SLUICE_EGRESS_CA file'
  try {
    const count = countRoots(readFileSync(file, 'utf8'))
    if (count !== null && count > 0)
      return good('egress_ca', `${count} root certificates in addition to those of Node.js`)
    return bad(
      'egress_ca',
      count === null ? 'the file contains an unreadable certificate' : 'the file contains no certificate',
      fix,
    )
  } catch (cause) {
    return bad('egress_ca', reasonOf(cause), fix)
  }
}
