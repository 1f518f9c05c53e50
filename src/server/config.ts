import { isatty } from 'node:tty'
import { resolve } from 'node:path'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Caps } from '../schemas/operator/caps.ts'
import { originAt } from '../schemas/values/origins.ts'
import { SENTINEL_PASSWORD, withParameter } from '../schemas/values/store-urls.ts'
import { Secret } from '../schemas/vault/secret.ts'
import { Settings, keptOf, type Kept } from '../schemas/operator/settings.ts'
import { contradictions } from './config/contradictions.ts'
import { frontsFor, usableCores, wholeCores } from './config/cores.ts'
import { readSettingsFile } from './config/file.ts'
import { objectsOf, type ObjectsConfig } from './config/objects.ts'
import { programName } from './config/program-name.ts'
import {
  convert,
  expectedOf,
  hidden,
  isParsable,
  isReadable,
  shown,
  durationMs,
} from './config/setting-text.ts'
import type { Problem, Texts } from './config/texts.ts'

/** The settings of one generation in the form that the code uses. Frozen. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly adminHost: string
  readonly adminPort: number
  /** Absolute. */
  readonly dataDir: string
  readonly fronts: number
  /** Configured number of long-session threads; `supervisor/fleet/shares.ts` computes the effective number. */
  readonly workers: number
  readonly runners: number
  readonly databaseUrl: Secret | null
  readonly redisUrl: Secret | null
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Milliseconds for which a front serves known keys while neither store answers. Design §3. */
  readonly keyGraceMs: number
  readonly catalogFile: string | null
  readonly corsOrigins: readonly string[]
  /** Lower case, without a trailing dot. §5. */
  readonly regionalHosts: readonly string[]
  readonly logLevel: Settings['SLUICE_LOG_LEVEL']
  readonly logFormat: 'json' | 'text'
  readonly broadcastUrl: Secret | null
  readonly otlpEndpoint: Secret | null
  /** Entries of `schemas/egress/destinations.ts`, each of which can be parsed. */
  readonly egressAllow: readonly string[]
  readonly egressCaFile: string | null
  readonly objects: ObjectsConfig
  /** The root keys themselves; when `rootKeyFile` is null too, they are in the data directory. Design §8. */
  readonly rootKey: Secret | null
  /** Path of the file that holds the root keys. Design §8. */
  readonly rootKeyFile: string | null
  /** Ids of lost root keys: the node starts without them. Design §8. */
  readonly rootKeysLost: readonly string[]
  /** Requests per minute of a key that is created without a limit; null = no limit. */
  readonly rateLimitRpm: number | null
  /** Requests at once for a key without its own burst; null = derived from its limit. */
  readonly rateLimitBurst: number | null
  /** UUID or name of the organization that operates the installation; null = the oldest. */
  readonly operatorOrganization: string | null
  readonly caps: Caps
  readonly kept: Kept
  /** Beginning of every URL that Sluice returns to callers: scheme and host, without a path or a closing slash. */
  readonly publicOrigin: string
  /** The configured `publicOrigin`; null: not set, so that `publicOrigin` is the listening address. */
  readonly publicUrl: string | null
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-Proto` counts. */
  readonly proxies: readonly string[]
  readonly videoJobHours: number
  readonly videoClipDays: number
  /** Maximum of concurrent long calls of one front to trusted providers. */
  readonly streams: number
  /** Milliseconds without output after which the head of a streamed answer is sent. */
  readonly streamHoldMs: number
  /** Milliseconds that calls in flight may still take when the front ends. */
  readonly drainMs: number
}

/** The configuration cannot be used; carries all problems at once. Exit code 2. */
export class ConfigInvalid extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(
      problems
        .map(
          ({ name, said: fullText, expected, got }) =>
            `${name}: ${fullText ?? `expected ${expected}, got ${got}`}`,
        )
        .join('\n'),
    )
    this.problems = problems
  }
}

/** A setting with its effective value, masked. */
export interface ReportRow {
  readonly name: string
  readonly value: string
  readonly source: 'default' | 'environment' | 'file'
}

/** One reading of the configuration, at boot or at a reload. */
export interface Generation {
  readonly config: Config
  /** The texts of all given settings: a child process builds the same config from them. */
  readonly settings: Texts
  /** Names that look like settings of Sluice but are unknown: likely typing errors in the environment. */
  readonly unknown: readonly string[]
  /** Effective values, secrets masked. */
  readonly report: readonly ReportRow[]
  /** Provider keys by the names that the catalogue's providers list; a name without a value is left out. */
  providerKeys(names: Iterable<string>): ReadonlyMap<string, Secret>
}

export type Reading =
  | { readonly ok: true; readonly generation: Generation }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Reads the environment and the optional file; returns all problems at once and throws nothing. */
export function readConfig(): Reading {
  return readFrom(environment())
}

/** @param env the environment to read instead of that of the process */
export function readFrom(env: Texts): Reading {
  const path = env['SLUICE_CONFIG']
  const file = path === undefined ? { texts: {}, problems: [] } : readSettingsFile(path)
  const problems = [...file.problems]
  const values: Record<string, unknown> = {}
  const texts: Texts = { ...file.texts, ...env }
  for (const [name, schema] of Object.entries(Settings.properties)) {
    const value = convert(schema, texts[name])
    const check = CHECKS.get(name)
    if (value === undefined || check === undefined) continue
    const given = texts[name]
    if (check.Check(value) && isReadable(schema, given) && isParsable(schema, given)) values[name] = value
    else problems.push({ name, expected: expectedOf(schema, given), got: shown(schema, given ?? '') })
  }
  problems.push(...contradictions(values, new Set(problems.map((problem) => problem.name))))
  if (problems.length > 0 || !isSettings(values)) return { ok: false, problems }
  return { ok: true, generation: generationOf(values, texts, env) }
}

/**
 * Thresholds at which glibc's malloc returns freed memory. By default malloc keeps ever larger buffers in
 * heaps that never shrink: 130 MB after a hundred uploads. Below 128 KiB the pages of each buffer would cost
 * more than sealing it. Decision.
 */
export const MALLOC = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '1048576' } as const

/**
 * The environment of a forked process of Sluice: this process's own, with the thread pool of design §2.
 * Settings for malloc that the operator has set are kept.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  return { ...MALLOC, ...process.env, UV_THREADPOOL_SIZE: '32' }
}

/** The environment of a program that is not part of Sluice: the paths of programs and libraries, without keys and addresses. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env
  return { PATH, ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }), LC_ALL: 'C', TZ: 'UTC' }
}

/** Variables with a secret of the user of a command-line verb: none is a setting of a node. */
const SECRETS_OF_VERBS = ['SLUICE_KEY', 'SLUICE_MANAGEMENT_KEY', 'SLUICE_WEBHOOK_SECRET'] as const

/** A secret for a command-line verb, from the user's environment; null = none. */
export function secretGiven(name: (typeof SECRETS_OF_VERBS)[number]): Secret | null {
  const text = environment()[name]
  return text === undefined ? null : new Secret(text)
}

/** All known settings in the environment, without those in the file. */
export function settingsGiven(): Texts {
  return Object.fromEntries(
    Object.entries(environment()).filter(([name]) => Object.hasOwn(Settings.properties, name)),
  )
}

/** Preferences for the terminal from the environment: whether the screen cannot be drawn on, and whether there is no user to answer (CI). */
export function terminalPreferences(): { readonly isDumb: boolean; readonly isUnattended: boolean } {
  const { TERM, CI } = environment()
  return {
    isDumb: TERM === undefined || TERM === 'dumb',
    isUnattended: CI !== undefined && CI !== 'false',
  }
}

/** Whether a stream gets colors: NO_COLOR turns them off, else FORCE_COLOR decides, else only a terminal that can show them. */
export function hasColour(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR } = environment()
  if (NO_COLOR !== undefined || FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false
  return FORCE_COLOR !== undefined || (stream.isTTY === true && !terminalPreferences().isDumb)
}

/** The command that the user types before a verb. */
export function commandName(): string {
  const { npm_lifecycle_event: npmEvent, PATH: path = '' } = process.env
  return programName({ script: process.argv[1], npmEvent, path, folder: process.cwd() })
}

/** True when npm or npx runs this process: losing the parent then means that a signal ended npm. */
export function isStartedByNpm(): boolean {
  return process.env['npm_lifecycle_event'] !== undefined
}

function generationOf(values: Settings, texts: Texts, env: Texts): Generation {
  const names = Object.keys(Settings.properties)
  const given = names.filter((name) => texts[name] !== undefined)
  const isSlip = (name: string): boolean =>
    name.startsWith('SLUICE_') && !NOT_SETTINGS.has(name) && !names.includes(name)
  const config = configOf(values, texts)
  return Object.freeze({
    config,
    settings: Object.freeze(Object.fromEntries(given.map((name) => [name, texts[name] ?? '']))),
    unknown: Object.keys(env).filter(isSlip),
    report: Object.entries(Settings.properties).map(([name, schema]): ReportRow => ({
      name,
      value: effectiveText(config, { name, schema, given: texts[name] }),
      source: texts[name] === undefined ? 'default' : env[name] === undefined ? 'file' : 'environment',
    })),
    providerKeys: (wanted: Iterable<string>) => namedSecrets(texts, wanted),
  })
}

function namedSecrets(texts: Texts, names: Iterable<string>): ReadonlyMap<string, Secret> {
  const secrets = new Map<string, Secret>()
  for (const name of names) {
    const text = texts[name]
    if (text !== undefined) secrets.set(name, new Secret(text))
  }
  return secrets
}

/** Adds parameters to the URL of a store: the code that opens the store gets only this URL. */
function storeUrl(
  url: string | undefined,
  parameters: Readonly<Record<string, string | null>>,
): string | undefined {
  if (url === undefined) return undefined
  return Object.entries(parameters).reduce((all, [name, value]) => withParameter(all, name, value), url)
}

function configOf(values: Settings, texts: Texts): Config {
  const cores = usableCores()
  const secret = (value?: string): Secret | null => (value === undefined ? null : new Secret(value))
  const path = (value?: string): string | null => (value === undefined ? null : resolve(value))
  const certFile = path(values.SLUICE_TLS_CERT)
  const keyFile = path(values.SLUICE_TLS_KEY)
  const storesCa = path(values.SLUICE_STORES_CA)
  const sentinels = values.SLUICE_SENTINEL_PASSWORD ?? null
  const publicUrl = values.SLUICE_PUBLIC_URL?.replace(/\/$/, '') ?? null
  return Object.freeze({
    host: values.SLUICE_HOST,
    port: values.SLUICE_PORT,
    adminHost: values.SLUICE_ADMIN_HOST,
    adminPort: values.SLUICE_ADMIN_PORT,
    dataDir: resolve(values.SLUICE_DATA),
    fronts: values.SLUICE_FRONTS === 'auto' ? frontsFor(cores) : values.SLUICE_FRONTS,
    workers: values.SLUICE_WORKERS === 'auto' ? wholeCores(cores) : values.SLUICE_WORKERS,
    runners: values.SLUICE_RUNNERS,
    databaseUrl: secret(storeUrl(values.DATABASE_URL, { sslrootcert: storesCa })),
    redisUrl: secret(storeUrl(values.REDIS_URL, { sslrootcert: storesCa, [SENTINEL_PASSWORD]: sentinels })),
    tls: certFile === null || keyFile === null ? null : Object.freeze({ certFile, keyFile }),
    keyGraceMs: durationMs(values.SLUICE_KEY_GRACE),
    catalogFile: path(values.SLUICE_CATALOG),
    corsOrigins: Object.freeze(values.SLUICE_CORS_ORIGINS),
    regionalHosts: Object.freeze(
      values.SLUICE_REGIONAL_HOSTS.map((name) => name.toLowerCase().replace(/\.$/, '')),
    ),
    ...logOf(values, texts),
    broadcastUrl: secret(values.SLUICE_BROADCAST),
    otlpEndpoint: secret(values.OTEL_EXPORTER_OTLP_ENDPOINT),
    egressAllow: Object.freeze(values.SLUICE_EGRESS_ALLOW),
    egressCaFile: path(values.SLUICE_EGRESS_CA),
    objects: objectsOf(values),
    rootKey: secret(values.SLUICE_ROOT_KEY),
    rootKeyFile: path(values.SLUICE_ROOT_KEY_FILE),
    rootKeysLost: Object.freeze(values.SLUICE_ROOT_KEYS_LOST),
    rateLimitRpm: values.SLUICE_RATE_LIMIT_RPM ?? null,
    rateLimitBurst: values.SLUICE_RATE_LIMIT_BURST ?? null,
    operatorOrganization: values.SLUICE_OPERATOR_ORGANIZATION ?? null,
    caps: capsOf(values),
    kept: keptOf(values),
    publicUrl,
    proxies: Object.freeze(values.SLUICE_PROXIES),
    publicOrigin: publicUrl ?? originAt(values.SLUICE_HOST, values.SLUICE_PORT, certFile !== null),
    videoJobHours: values.SLUICE_VIDEO_JOB_HOURS,
    videoClipDays: values.SLUICE_VIDEO_CLIP_DAYS,
    streams: values.SLUICE_STREAMS,
    streamHoldMs: values.SLUICE_STREAM_HOLD_MS,
    drainMs: values.SLUICE_DRAIN_MS,
  })
}

/** At a terminal only warnings are logged, unless a level is set. */
function logOf(
  { SLUICE_LOG_FORMAT: format, SLUICE_LOG_LEVEL: level }: Settings,
  texts: Texts,
): Pick<Config, 'logLevel' | 'logFormat'> {
  const isTerminal = isatty(1)
  const logFormat = format !== 'auto' ? format : isTerminal ? 'text' : 'json'
  const isQuiet = isTerminal && logFormat === 'text' && texts['SLUICE_LOG_LEVEL'] === undefined
  return { logFormat, logLevel: isQuiet ? 'warn' : level }
}

/** The environment without empty texts: compose files and units pass unset variables on as empty texts. */
function environment(): Texts {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && value !== '') texts[name] = value
  }
  return texts
}

interface Given {
  readonly name: string
  readonly schema: TSchema
  readonly given: string | undefined
}

function effectiveText(config: Config, { name, schema, given }: Given): string {
  if (given !== undefined && given !== 'auto') return 'mask' in schema ? hidden(schema, given) : given
  if (name === 'SLUICE_FRONTS') return String(config.fronts)
  if (name === 'SLUICE_WORKERS') return String(config.workers)
  return 'default' in schema ? String(schema.default) : ''
}

/** Variables with the prefix that are no settings: the path of the settings file, and secrets of users. */
export const NOT_SETTINGS: ReadonlySet<string> = new Set(['SLUICE_CONFIG', ...SECRETS_OF_VERBS])

const CHECKS = new Map(Object.entries(Settings.properties).map(([name, schema]) => [name, Compile(schema)]))
const WHOLE = Compile(Settings)

function isSettings(values: unknown): values is Settings {
  return WHOLE.Check(values)
}

/** Caps of the installation, for organizations without caps of their own. */
function capsOf(values: Settings): Caps {
  return Object.freeze({
    workspaces: values.SLUICE_WORKSPACES_MAX,
    api_keys: values.SLUICE_API_KEYS_MAX,
    interns: values.SLUICE_INTERNS_MAX,
    vaults: values.SLUICE_VAULTS_MAX,
    secrets: values.SLUICE_SECRETS_MAX,
  })
}
