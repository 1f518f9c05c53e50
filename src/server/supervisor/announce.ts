import { readPostgresUrl } from '../../schemas/values/store-urls.ts'
import { hostForUrl, isLoopback } from '../../schemas/values/origins.ts'
import { hasColour } from '../config.ts'
import { banner, readyLine, type BannerKeys, type ReadyFacts } from './banner.ts'
import type { DataDirectory } from './data-directory/data-directory.ts'
import { countsOf } from './fleet/scaling.ts'
import type { NodeGeneration, NodeSetup, PreparedFiles } from './node-setup.ts'
import type { Services } from './services.ts'
import { VERSION } from './version.ts'

export interface AnnounceInput {
  readonly data: DataDirectory
  readonly services: Services
  readonly keys: BannerKeys
  readonly files: PreparedFiles
  readonly degraded: ReadyFacts['degraded']
  readonly url: string
  readonly log: NodeSetup['log']
}

/** Publishes a node that serves: in its data directory, by the banner and by the ready line; releases its log. */
export function announce(generation: NodeGeneration, input: AnnounceInput): void {
  const { data, services, keys, files, degraded, url, log } = input
  const { config } = generation
  const adminUrl = `http://${hostForUrl(config.adminHost)}:${config.adminPort}`
  data.publish({
    databaseUrl: services.databaseUrl,
    redis: services.redis,
    url,
    adminUrl,
    scalesBy: 'SIGUSR2',
  })
  const facts: ReadyFacts = {
    url,
    docs_url: `${url}/docs`,
    admin_url: adminUrl,
    ...countsOf(generation),
    postgres: services.postgres,
    redis: services.redisMode,
    objects: files.place,
    degraded,
    version: VERSION,
  }
  const isTerminal = process.stdout.isTTY
  const text = banner({
    facts,
    configuredWorkers: config.workers,
    // A service's standard error is kept in journals and container logs.
    keys: isTerminal ? keys : { inference: null, management: null, file: keys.file },
    certFile: config.tls?.certFile ?? null,
    rootKeyFile: files.madeRootKey,
    hasColour: hasColour(isTerminal ? process.stdout : process.stderr),
  })
  if (isTerminal) {
    // People look at the end of the screen.
    warn(generation, log)
    log.flush()
    process.stdout.write(text)
    return
  }
  // For machines stdout contains only lines of the log; the banner goes to stderr, where people look for it. It
  // comes first, so that a program that waits for the ready line finds the banner there.
  process.stderr.write(text)
  process.stdout.write(readyLine(facts))
  warn(generation, log)
  log.release()
}

function warn({ config, unknown, misplaced }: NodeGeneration, log: NodeSetup['log']): void {
  if (!isLoopback(config.host) && config.tls === null) {
    const fix = 'set SLUICE_TLS_CERT and SLUICE_TLS_KEY, or use a TLS proxy in front of Sluice'
    log.warn('plain_http_beyond_loopback', { host: config.host, fix })
  }
  if (!isLoopback(config.adminHost)) log.warn('admin_port_beyond_loopback', { host: config.adminHost })
  if (unknown.length > 0) log.warn('settings_unknown', { names: unknown })
  warnOfKeys(misplaced, log)
  const remarks = config.databaseUrl === null ? [] : readPostgresUrl(config.databaseUrl.reveal()).remarks
  if (remarks.length > 0) log.warn('database_url_ignored', { parameters: remarks })
}

/** Logs the variables that contain a key of Sluice although the provider needs its own key. */
export function warnOfKeys(misplaced: NodeGeneration['misplaced'], log: NodeSetup['log']): void {
  if (misplaced !== null) log.warn('provider_keys_misplaced', { ...misplaced })
}

export const DRAINING = 'Draining: running calls can finish. Press Ctrl-C again to stop at once.'
export const STOPPED = 'Stopped.'

/** For a person who watches the node: on a terminal the log shows only warnings. */
export function sayOnTerminal(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\n  ${text}\n`)
}
