import { X509Certificate } from 'node:crypto'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { NodeGeneration } from './node-setup.ts'
import { StartRefused } from './start-refused.ts'

/** Oldest glibc, by Node's ABI, with which the front end's binary loads. */
const GLIBC_BY_ABI: Readonly<Record<string, number>> = { 115: 2.27, 127: 2.38, 137: 2.38, 141: 2.38 }

/** The facts of the machine that the front end's binary depends on. */
export interface Platform {
  readonly os: string
  readonly node: string
  readonly abi: string
  /** Null on a system without glibc: one with musl, or not Linux. */
  readonly glibc: string | null
}

export function ownPlatform(): Platform {
  return {
    os: process.platform,
    node: process.versions.node,
    abi: process.versions.modules,
    glibc: process.platform === 'linux' ? glibcVersion() : null,
  }
}

/** The reason why the front end's binary cannot load here, or null. The binary's own message is misleading. */
export function platformProblem({ os, node: version, abi, glibc }: Platform = ownPlatform()): string | null {
  const needed = GLIBC_BY_ABI[abi]
  const node = `Node ${version} (ABI ${abi})`
  if (needed === undefined) return `${node} is not supported: use Node 20, 22, 24 or 25`
  if (os !== 'linux') return null
  if (glibc === null) return 'this system has no glibc (musl is not supported)'
  if (minor(glibc) >= minor(String(needed))) return null
  return `${node} needs glibc ${needed} or newer, but this system has ${glibc}: use Node 20`
}

export function glibcVersion(): string | null {
  // The types of Node declare the report as an object without members.
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime ?? null
}

/**
 * Throws `StartRefused` when another process listens on the address. Fronts share their port, so that a
 * second instance would join silently and take half of the traffic; this plain listen fails instead.
 */
export async function probePort(host: string, port: number, setting: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause) => reject(cannotListen(cause, { host, port, setting })))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  })
}

export interface ListenPlace {
  readonly host: string
  readonly port: number
  /** The setting to change. */
  readonly setting: string
}

/** Text for an address that the machine does not have: the host is wrong then, and not the port. */
const NOT_OURS = 'this machine does not have that address'
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: NOT_OURS,
  ENOTFOUND: NOT_OURS,
}

/** Error code of an address on which another process listens. */
export const PORT_TAKEN = 'EADDRINUSE'

/** The system's code of a failure of `probePort`, or null. */
export function refusalOf(problem: unknown): string | null {
  const cause = problem instanceof StartRefused ? problem.cause : problem
  return cause instanceof Error && 'code' in cause ? String(cause.code) : null
}

/** The error for an address on which this node cannot listen, with the setting to change. */
export function cannotListen(cause: Error, { host, port, setting }: ListenPlace): StartRefused {
  const code = 'code' in cause ? String(cause.code) : cause.message
  const why = LISTEN_PROBLEMS[code] ?? code
  return new StartRefused(
    `cannot listen on ${host}:${port}: ${why}; set ${why === NOT_OURS ? setting.replace('_PORT', '_HOST') : setting}`,
    { cause },
  )
}

/**
 * Checks the certificate and key that fronts will get. Throws `StartRefused`: the front end itself would only
 * report that the app cannot be created.
 */
export function checkTls({ config, frozen }: Pick<NodeGeneration, 'config' | 'frozen'>): void {
  if (config.tls !== null) checkPair(frozen['SLUICE_TLS_CERT'] ?? '', frozen['SLUICE_TLS_KEY'] ?? '')
}

/** Checks the certificate and key in their files. Throws `StartRefused`. */
export function checkTlsFiles({ certFile, keyFile }: { certFile: string; keyFile: string }): void {
  checkPair(readPem(certFile, 'SLUICE_TLS_CERT'), readPem(keyFile, 'SLUICE_TLS_KEY'))
}

function checkPair(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable'
    throw new StartRefused(`SLUICE_TLS_CERT and SLUICE_TLS_KEY do not work together: ${reason}`, { cause })
  }
  const endsAt = new Date(new X509Certificate(cert).validTo)
  if (endsAt.getTime() >= Date.now()) return
  throw new StartRefused(`the certificate of SLUICE_TLS_CERT expired on ${endsAt.toISOString()}`)
}

const MIGRATE_REQUESTS = '/proc/sys/net/ipv4/tcp_migrate_req'

/**
 * Lets the kernel pass connections that a closing listener had not accepted to another listener of the same
 * port. Without this about 1 new connection in 65,000 is reset in a roll at full speed. True when the setting
 * is on.
 */
export function allowListenerMigration(): boolean {
  if (listenerMigrationIsOn()) return true
  try {
    writeFileSync(MIGRATE_REQUESTS, '1')
    return true
  } catch {
    return false
  }
}

export function listenerMigrationIsOn(): boolean {
  try {
    return readFileSync(MIGRATE_REQUESTS, 'utf8').trim() === '1'
  } catch {
    return false
  }
}

/** True when `allowListenerMigration` could switch the setting on. */
export function mayAllowListenerMigration(): boolean {
  try {
    accessSync(MIGRATE_REQUESTS, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function readPem(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new StartRefused(`${setting}: ${file} cannot be read`, { cause })
  }
}

function minor(version: string): number {
  return Number(version.split('.')[1] ?? 0)
}
