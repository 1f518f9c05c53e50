import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseAllowEntry } from '../schemas/egress/destinations.ts'
import type { Caps } from '../schemas/operator/caps.ts'
import { keptOf, type Kept } from '../schemas/operator/kept.ts'
import { masked } from '../schemas/values/masked.ts'
import { KEY_GRACE_MS_MIN } from '../schemas/keys/key-limits.ts'
import { originAt } from '../schemas/values/origins.ts'
import { withOneHost } from '../schemas/values/postgres-url.ts'
import { Secret } from '../schemas/vault/secret.ts'
import { Settings } from '../schemas/operator/settings.ts'
import { readSettingsFile } from './config/file.ts'
import { programName } from './config/program-name.ts'
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
  /**
   * Configured number of long-session threads; `supervisor/fleet/shares.ts` computes the effective number.
   */
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
  readonly broadcastUrl: Secret | null
  readonly otlpEndpoint: Secret | null
  /** Entries of `schemas/egress/destinations.ts`, each of which can be parsed. */
  readonly egressAllow: readonly string[]
  readonly egressCaFile: string | null
  readonly objects: ObjectsConfig
  /** The root keys themselves; when `rootKeyFile` is null too, they lie in the data directory. Design §8. */
  readonly rootKey: Secret | null
  /** Path of the file that holds the root keys. Design §8. */
  readonly rootKeyFile: string | null
  /** Ids of lost root keys: the node starts without them. Design §8. */
  readonly rootKeysLost: readonly string[]
  /** Requests per minute of a key that is created without a limit; null = no limit. C11. */
  readonly rateLimitRpm: number | null
  /** UUID or name of the organization that operates the installation; null = the oldest. */
  readonly operatorOrganization: string | null
  readonly caps: Caps
  readonly kept: Kept
  /** Start of every URL that Sluice gives to callers: scheme and host, without a path and a closing slash. */
  readonly publicOrigin: string
  readonly videoJobHours: number
  readonly videoClipDays: number
}

/** The storage that holds the bytes of files. Design §5. */
export type ObjectsConfig =
  | { readonly kind: 'disk'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** Empty, or ending in a slash. */
      readonly prefix: string
      readonly region: string
      readonly endpoint: string | null
      readonly accessKeyId: string
      readonly secretAccessKey: Secret
      readonly isPathStyle: boolean
      readonly checksums: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED'
    }

/** The configuration cannot be used; carries all problems at once. Exit code 2. */
export class ConfigInvalid extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(
      problems
        .map(({ name, said, expected, got }) => `${name}: ${said ?? `expected ${expected}, got ${got}`}`)
        .join('\n'),
    )
    this.problems = problems
  }
}

/** A setting as it is in force, masked. */
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
 * Settings for malloc that the operator gave stay.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  return { ...MALLOC, ...process.env, UV_THREADPOOL_SIZE: '32' }
}

/**
 * The environment of a program that is not part of Sluice: the paths of programs and libraries, without keys
 * and addresses.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env
  return { PATH, ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }), LC_ALL: 'C', TZ: 'UTC' }
}

/**
 * The management key for a command-line verb, from the user's environment; null = none. It is no setting of a
 * node.
 */
export function managementKeyGiven(): Secret | null {
  const key = environment()['SLUICE_MANAGEMENT_KEY']
  return key === undefined ? null : new Secret(key)
}

/** All known settings that the environment gives; settings of the file are not included. */
export function settingsGiven(): Texts {
  return Object.fromEntries(
    Object.entries(environment()).filter(([name]) => Object.hasOwn(Settings.properties, name)),
  )
}

/**
 * Preferences for the terminal from the environment: no color (NO_COLOR), no screen to draw on, no user who
 * could answer (CI).
 */
export function terminalPreferences(): {
  readonly isPlain: boolean
  readonly isDumb: boolean
  readonly isUnattended: boolean
} {
  const { NO_COLOR, TERM, CI } = environment()
  return {
    isPlain: NO_COLOR !== undefined,
    isDumb: TERM === undefined || TERM === 'dumb',
    isUnattended: CI !== undefined && CI !== 'false',
  }
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
  const config = configOf(values)
  return Object.freeze({
    config,
    settings: Object.freeze(Object.fromEntries(given.map((name) => [name, texts[name] ?? '']))),
    unknown: Object.keys(env).filter(isSlip),
    report: Object.entries(Settings.properties).map(([name, schema]): ReportRow => ({
      name,
      value: effectiveText(config, { name, schema, given: texts[name] }),
      source: texts[name] === undefined ? 'default' : env[name] === undefined ? 'file' : 'environment',
    })),
    providerKeys: (wanted: Iterable<string>) => secretsOf(texts, wanted),
  })
}

function secretsOf(texts: Texts, names: Iterable<string>): ReadonlyMap<string, Secret> {
  const secrets = new Map<string, Secret>()
  for (const name of names) {
    const text = texts[name]
    if (text !== undefined) secrets.set(name, new Secret(text))
  }
  return secrets
}

function configOf(values: Settings): Config {
  const cores = availableParallelism()
  const secret = (value?: string): Secret | null => (value === undefined ? null : new Secret(value))
  const path = (value?: string): string | null => (value === undefined ? null : resolve(value))
  const certFile = path(values.SLUICE_TLS_CERT)
  const keyFile = path(values.SLUICE_TLS_KEY)
  return Object.freeze({
    host: values.SLUICE_HOST,
    port: values.SLUICE_PORT,
    adminHost: values.SLUICE_ADMIN_HOST,
    adminPort: values.SLUICE_ADMIN_PORT,
    dataDir: resolve(values.SLUICE_DATA),
    fronts: values.SLUICE_FRONTS === 'auto' ? Math.max(1, Math.floor(cores / 2)) : values.SLUICE_FRONTS,
    workers: values.SLUICE_WORKERS === 'auto' ? cores : values.SLUICE_WORKERS,
    runners: values.SLUICE_RUNNERS,
    databaseUrl: secret(values.DATABASE_URL),
    redisUrl: secret(values.REDIS_URL),
    tls: certFile === null || keyFile === null ? null : Object.freeze({ certFile, keyFile }),
    keyGraceMs: durationMs(values.SLUICE_KEY_GRACE),
    catalogFile: path(values.SLUICE_CATALOG),
    corsOrigins: Object.freeze(values.SLUICE_CORS_ORIGINS),
    regionalHosts: Object.freeze(
      values.SLUICE_REGIONAL_HOSTS.map((name) => name.toLowerCase().replace(/\.$/, '')),
    ),
    logLevel: values.SLUICE_LOG_LEVEL,
    broadcastUrl: secret(values.SLUICE_BROADCAST),
    otlpEndpoint: secret(values.OTEL_EXPORTER_OTLP_ENDPOINT),
    egressAllow: Object.freeze(values.SLUICE_EGRESS_ALLOW),
    egressCaFile: path(values.SLUICE_EGRESS_CA),
    objects: objectsOf(values),
    rootKey: secret(values.SLUICE_ROOT_KEY),
    rootKeyFile: path(values.SLUICE_ROOT_KEY_FILE),
    rootKeysLost: Object.freeze(values.SLUICE_ROOT_KEYS_LOST),
    rateLimitRpm: values.SLUICE_RATE_LIMIT_RPM ?? null,
    operatorOrganization: values.SLUICE_OPERATOR_ORGANIZATION ?? null,
    caps: capsOf(values),
    kept: keptOf(values),
    publicOrigin:
      values.SLUICE_PUBLIC_URL?.replace(/\/$/, '') ??
      originAt(values.SLUICE_HOST, values.SLUICE_PORT, certFile !== null),
    videoJobHours: values.SLUICE_VIDEO_JOB_HOURS,
    videoClipDays: values.SLUICE_VIDEO_CLIP_DAYS,
  })
}

function objectsOf(values: Settings): ObjectsConfig {
  const given = values.SLUICE_OBJECTS
  if (given === undefined)
    return Object.freeze({ kind: 'disk', folder: resolve(values.SLUICE_DATA, 'files') })
  const [, bucket, prefix = ''] = S3_PLACE.exec(given) ?? []
  if (bucket === undefined) return Object.freeze({ kind: 'disk', folder: resolve(given) })
  const endpoint = values.SLUICE_S3_ENDPOINT ?? null
  const style = values.SLUICE_S3_PATH_STYLE
  const folders = prefix.replace(/^\/+|\/+$/g, '')
  return Object.freeze({
    kind: 's3',
    bucket,
    prefix: folders === '' ? '' : `${folders}/`,
    region: values.AWS_REGION,
    endpoint,
    accessKeyId: values.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: new Secret(values.AWS_SECRET_ACCESS_KEY ?? ''),
    // Servers other than Amazon's rarely have a host name for each bucket.
    isPathStyle: style === 'auto' ? endpoint !== null : style === 'on',
    checksums: values.SLUICE_S3_CHECKSUMS === 'required' ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
  })
}

const S3_PLACE = /^s3:\/\/([^/]+)(?:\/(.*))?$/

/** Checks that need more than the form of one setting. */
function contradictions(
  values: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [one, other] of [
    ['SLUICE_TLS_CERT', 'SLUICE_TLS_KEY'],
    ['SLUICE_TLS_KEY', 'SLUICE_TLS_CERT'],
  ] as const) {
    if (values[one] !== undefined || values[other] === undefined || known.has(one)) continue
    problems.push({ name: one, expected: `a PEM file, since ${other} is set`, got: 'nothing' })
  }
  if (values['SLUICE_ROOT_KEY'] !== undefined && values['SLUICE_ROOT_KEY_FILE'] !== undefined) {
    problems.push({
      name: 'SLUICE_ROOT_KEY_FILE',
      expected: 'nothing, since SLUICE_ROOT_KEY is set',
      got: 'a file',
    })
  }
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const) {
    if (!String(values['SLUICE_OBJECTS']).startsWith('s3:') || values[name] !== undefined || known.has(name))
      continue
    problems.push({ name, expected: 'a value, since SLUICE_OBJECTS is a bucket', got: 'nothing' })
  }
  const { SLUICE_PORT: port, SLUICE_ADMIN_PORT: adminPort, SLUICE_KEY_GRACE: grace } = values
  if (typeof grace === 'string' && durationMs(grace) < KEY_GRACE_MS_MIN) {
    problems.push({
      name: 'SLUICE_KEY_GRACE',
      expected: `at least ${KEY_GRACE_MS_MIN / 1000}s`,
      got: JSON.stringify(grace),
    })
  }
  for (const entry of (values['SLUICE_EGRESS_ALLOW'] ?? []) as readonly string[]) {
    const parsed = parseAllowEntry(entry)
    if (typeof parsed === 'string')
      problems.push({ name: 'SLUICE_EGRESS_ALLOW', expected: parsed, got: JSON.stringify(entry) })
  }
  if (port === adminPort && port !== undefined) {
    const expected = 'another port than SLUICE_PORT'
    problems.push({ name: 'SLUICE_ADMIN_PORT', expected, got: String(adminPort) })
  }
  return problems
}

/** The environment without empty texts: compose files and units pass unset variables on as empty texts. */
function environment(): Texts {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && value !== '') texts[name] = value
  }
  return texts
}

function convert(schema: TSchema, given: string | undefined): unknown {
  if (given === undefined) return 'default' in schema ? schema.default : undefined
  if (Type.IsArray(schema))
    return given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  const takesNumber = Type.IsInteger(schema) || Type.IsUnion(schema)
  return takesNumber && /^[0-9]{1,15}$/.test(given) ? Number(given) : given
}

/** False for an unreadable file: the start would fail on it later, so that the setting is refused now. */
function isReadable(schema: TSchema, given: string | undefined): boolean {
  if (!('file' in schema) || given === undefined) return true
  try {
    accessSync(given, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/**
 * False for an address that its client cannot parse: the client's error would end the process and name no
 * setting.
 */
function isParsable(schema: TSchema, given: string | undefined): boolean {
  if (!('mask' in schema) || schema.mask !== true || given === undefined) return true
  try {
    const { username, password } = new URL(withOneHost(given))
    return typeof decodeURIComponent(username + password) === 'string'
  } catch {
    return false
  }
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

/**
 * The given value for a problem's text: shortened, and without the password, whichever setting it was written
 * in.
 */
function shown(schema: TSchema, given: string): string {
  return JSON.stringify(
    'mask' in schema || /:\/\/.*@/.test(given) ? hidden(schema, given) : given.slice(0, 80),
  )
}

/**
 * Masks a value. A key with an id before it reads like a URL with a path, so that a setting that is a secret
 * as a whole is never shown in parts.
 */
function hidden(schema: TSchema, given: string): string {
  return 'mask' in schema && schema.mask === 'whole' ? `*** (${given.length} characters)` : masked(given)
}

function expectedOf(schema: TSchema, given: string | undefined): string {
  const expected = 'expected' in schema ? String(schema.expected) : 'another value'
  // A Kubernetes service called "sluice" puts its own SLUICE_PORT into every pod.
  const isServiceLink = given?.startsWith('tcp://') === true
  if (isServiceLink) return `${expected} (set enableServiceLinks: false on the pod)`
  return given?.includes('@') === true && !isParsable(schema, given)
    ? `${expected} (# / and % in a password are %23 %2F and %25)`
    : expected
}

/**
 * Variables with the prefix that are no settings: the path of the settings file, and the names that hold a
 * caller's key.
 */
const NOT_SETTINGS: ReadonlySet<string> = new Set(['SLUICE_CONFIG', 'SLUICE_KEY', 'SLUICE_MANAGEMENT_KEY'])

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function durationMs(given: string): number {
  const unit = given.replace(/^[0-9]+/, '')
  return Number.parseInt(given, 10) * (UNIT_MS[unit] ?? 1)
}

const CHECKS = new Map(Object.entries(Settings.properties).map(([name, schema]) => [name, Compile(schema)]))
const WHOLE = Compile(Settings)

function isSettings(values: unknown): values is Settings {
  return WHOLE.Check(values)
}

/** Caps of an installation, for organizations that have none of their own. */
function capsOf(values: Settings): Caps {
  return Object.freeze({
    workspaces: values.SLUICE_WORKSPACES_MAX,
    api_keys: values.SLUICE_API_KEYS_MAX,
    interns: values.SLUICE_INTERNS_MAX,
    vaults: values.SLUICE_VAULTS_MAX,
    secrets: values.SLUICE_SECRETS_MAX,
  })
}
