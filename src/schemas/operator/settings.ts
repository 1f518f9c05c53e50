import { CAP_MAX, CAPS_DEFAULT } from './caps.ts'
import Type, { type Static } from 'typebox'
import { DRAIN_MS, FRONTS_MAX, NODE_DRAIN_MS_MAX, WORKERS_MAX } from '../limits/limits.ts'
import { RATE_LIMIT_RPM_MAX } from '../limits/rate-limits.ts'
import { REQUEST_DAYS_DEFAULT } from '../requests/request-limits.ts'
import { STREAM_HOLD_MS_DEFAULT } from '../inference/stream-limits.ts'
import { UPSTREAM_LONG_CALLS_DEFAULT } from '../models/provider-limits.ts'
import { GENERATION_DAYS_DEFAULT } from '../inference/inference-limits.ts'

/** Most milliseconds that SLUICE_STREAM_HOLD_MS allows. Decision. */
export const STREAM_HOLD_MS_MAX = 600_000
/** The most concurrent long calls per front that SLUICE_STREAMS may set; each needs a file descriptor. Decision. */
export const UPSTREAM_LONG_CALLS_MAX = 16_384
/** Days of a retention setting. Decision. */
export const KEPT_DAYS_MAX = 3_650
/** Months of a retention setting that counts whole months. Decision. */
export const KEPT_MONTHS_MAX = 1_200
/** Hours of the setting SLUICE_VIDEO_JOB_HOURS. Decision. */
export const VIDEO_JOB_HOURS_MAX = 720
/** Days of the setting SLUICE_VIDEO_CLIP_DAYS. Decision. */
export const VIDEO_CLIP_DAYS_MAX = 3_650

const ROOT_KEY = '([0-9a-f]{16}:)?[A-Za-z0-9+/=_-]{43,64}'
const ROOT_KEYS = `^[\\s,]*${ROOT_KEY}([\\s,]+${ROOT_KEY})*[\\s,]*$`
/** Excludes text that a server or a library would read as a different location. A key has at most 1,024 bytes. */
const BUCKET = 's3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?!.*/\\.{1,2}(/|$))(/[!-~]{0,128})?'
/** A mistyped `s3://`, or the URL of another service, must not become a folder of that name. */
const FOLDER = '(?![sS]3:|[A-Za-z][A-Za-z0-9+.-]*://|\\s).*\\S'

/** One exact name: no wildcard, no port, and no IP address, since an address has no region. */
const HOST_NAME =
  '^(?=.{1,254}$)(?!.*\\.[0-9]+\\.?$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\\.?$'

/** Without a path: URLs in replies begin with it. */
const ORIGIN =
  '^https?://([A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])' +
  '(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?/?$'

/**
 * Every setting of the product, by its name in the environment and in the file that `SLUICE_CONFIG` names.
 * The environment wins. `expected` is the text of a problem report; `mask` marks texts that may contain a
 * password, and `'whole'` marks texts that are entirely secret.
 */
export const Settings = Type.Object({
  SLUICE_HOST: address(),
  SLUICE_PORT: count('a port from 1 to 65535', 1, 65_535, 8_080),
  SLUICE_ADMIN_HOST: address(),
  SLUICE_ADMIN_PORT: count('a port from 1 to 65535', 1, 65_535, 9_090),
  SLUICE_DATA: text('a directory', { default: './.sluice' }),
  SLUICE_FRONTS: auto(`"auto" or a number from 1 to ${FRONTS_MAX}`, FRONTS_MAX),
  SLUICE_WORKERS: auto(`"auto" or a number from 1 to ${WORKERS_MAX}`, WORKERS_MAX),
  SLUICE_RUNNERS: count('a number from 1 to 16', 1, 16, 1),
  DATABASE_URL: url('postgres://user:password@host/database', '^postgres(ql)?://.'),
  REDIS_URL: url(
    'redis://host:port, rediss://host:port or redis+sentinel://host:port,host:port/name',
    '^(rediss?://.|rediss?\\+sentinel://[^/]+/[^/?]+(/[0-9]{1,5})?([?]|$))',
  ),
  SLUICE_SENTINEL_PASSWORD: Type.Optional(text('the password of the Redis Sentinels', { mask: 'whole' })),
  SLUICE_STORES_CA: file('a readable PEM file'),
  SLUICE_TLS_CERT: file('a readable PEM file'),
  SLUICE_TLS_KEY: file('a readable PEM file'),
  SLUICE_KEY_GRACE: text('a duration, such as 300s, 5m or 1h', {
    default: '5m',
    pattern: '^[0-9]{1,9}(ms|s|m|h)$',
  }),
  SLUICE_CATALOG: file('a readable JSON file'),
  SLUICE_CORS_ORIGINS: list(
    'a comma-separated list of origins, such as https://app.example',
    '^(\\*|https?://[^/,\\s]+)$',
  ),
  SLUICE_REGIONAL_HOSTS: list(
    'a comma-separated list of exact host names without wildcards or ports, such as eu.sluice.example',
    HOST_NAME,
  ),
  SLUICE_LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    expected: 'one of debug, info, warn, error, silent',
  }),
  SLUICE_LOG_FORMAT: Type.Enum(['auto', 'json', 'text'], {
    default: 'auto',
    expected: 'one of auto, json, text',
  }),
  SLUICE_BROADCAST: url('an http or https URL', '^https?://.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('an http or https URL', '^https?://.'),
  SLUICE_EGRESS_ALLOW: list('a comma-separated list of [http:]CIDR[:port] entries', '^\\S{1,80}$'),
  SLUICE_EGRESS_CA: file('a readable PEM file'),
  SLUICE_OBJECTS: Type.Optional(
    text(
      'a directory, s3://bucket or s3://bucket/prefix (bucket: 3 to 63 lower-case letters and digits, with . and - only ' +
        'between them; prefix: at most 128 characters)',
      { pattern: `^(${BUCKET}|${FOLDER})$` },
    ),
  ),
  SLUICE_S3_ENDPOINT: url('an http or https URL', '^https?://.'),
  SLUICE_S3_PATH_STYLE: Type.Enum(['auto', 'on', 'off'], {
    default: 'auto',
    expected: 'one of auto, on, off',
  }),
  SLUICE_S3_CHECKSUMS: Type.Enum(['required', 'supported'], {
    default: 'required',
    expected: 'one of required, supported',
  }),
  AWS_REGION: text('a region', { default: 'us-east-1' }),
  AWS_ACCESS_KEY_ID: Type.Optional(text('an access key id', { mask: 'whole' })),
  AWS_SECRET_ACCESS_KEY: Type.Optional(
    text('the secret access key for AWS_ACCESS_KEY_ID', { mask: 'whole' }),
  ),
  SLUICE_ROOT_KEY: Type.Optional(
    text(
      'one or more keys of 32 bytes, as 64 hex digits or base64, separated by commas, the current key first',
      {
        pattern: ROOT_KEYS,
        mask: 'whole',
      },
    ),
  ),
  SLUICE_ROOT_KEYS_LOST: list('a comma-separated list of root key ids, 16 hex digits each', '^[0-9a-f]{16}$'),
  SLUICE_ROOT_KEY_FILE: file('a readable file with root keys in the format of SLUICE_ROOT_KEY'),
  SLUICE_OPERATOR_ORGANIZATION: Type.Optional(
    text('the id or name of an organization', { pattern: '^[^\\u0000]{1,200}$' }),
  ),
  SLUICE_WORKSPACES_MAX: count(
    `a maximum number of workspaces per organization, from 0 to ${CAP_MAX}`,
    0,
    CAP_MAX,
    CAPS_DEFAULT.workspaces,
  ),
  SLUICE_API_KEYS_MAX: count(
    `a maximum number of API keys per organization, from 0 to ${CAP_MAX}`,
    0,
    CAP_MAX,
    CAPS_DEFAULT.api_keys,
  ),
  SLUICE_INTERNS_MAX: count(
    `a maximum number of interns (records of agents) per organization, from 0 to ${CAP_MAX}`,
    0,
    CAP_MAX,
    CAPS_DEFAULT.interns,
  ),
  SLUICE_VAULTS_MAX: count(
    `a maximum number of attachable vaults per organization, from 0 to ${CAP_MAX}`,
    0,
    CAP_MAX,
    CAPS_DEFAULT.vaults,
  ),
  SLUICE_SECRETS_MAX: count(
    `a maximum number of secrets in attachable vaults per organization, from 0 to ${CAP_MAX}`,
    0,
    CAP_MAX,
    CAPS_DEFAULT.secrets,
  ),
  SLUICE_LEDGER_KEPT_MONTHS: kept('months', KEPT_MONTHS_MAX, 0),
  SLUICE_AUDIT_KEPT_MONTHS: kept('months', KEPT_MONTHS_MAX, 0),
  SLUICE_WEBHOOKS_KEPT_DAYS: kept('days', KEPT_DAYS_MAX, 7),
  SLUICE_DEAD_LETTERS_KEPT_DAYS: kept('days', KEPT_DAYS_MAX, 30),
  SLUICE_JOBS_KEPT_DAYS: kept('days', KEPT_DAYS_MAX, 90),
  SLUICE_KEEP_GENERATIONS: kept('days', KEPT_DAYS_MAX, GENERATION_DAYS_DEFAULT),
  SLUICE_KEEP_REQUESTS: keptOrOff(KEPT_DAYS_MAX, REQUEST_DAYS_DEFAULT),
  SLUICE_PUBLIC_URL: Type.Optional(
    text('the public origin of the API without a path, such as https://sluice.example', { pattern: ORIGIN }),
  ),
  SLUICE_PROXIES: list(
    'a comma-separated list of proxy addresses and CIDR ranges, such as 10.0.0.0/8',
    '^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$',
  ),
  SLUICE_VIDEO_JOB_HOURS: count('a number of hours from 1 to 720', 1, VIDEO_JOB_HOURS_MAX, 24),
  SLUICE_VIDEO_CLIP_DAYS: count('a number of days from 1 to 3650', 1, VIDEO_CLIP_DAYS_MAX, 7),
  SLUICE_STREAM_HOLD_MS: count(
    `a number of milliseconds from 0 to ${STREAM_HOLD_MS_MAX}`,
    0,
    STREAM_HOLD_MS_MAX,
    STREAM_HOLD_MS_DEFAULT,
  ),
  SLUICE_DRAIN_MS: count(
    `a number of milliseconds from 0 to ${NODE_DRAIN_MS_MAX}`,
    0,
    NODE_DRAIN_MS_MAX,
    DRAIN_MS,
  ),
  SLUICE_STREAMS: count(
    `a number from 1 to ${UPSTREAM_LONG_CALLS_MAX}`,
    1,
    UPSTREAM_LONG_CALLS_MAX,
    UPSTREAM_LONG_CALLS_DEFAULT,
  ),
  SLUICE_RATE_LIMIT_RPM: Type.Optional(
    count('a number of requests per minute, at least 1', 1, RATE_LIMIT_RPM_MAX),
  ),
  SLUICE_RATE_LIMIT_BURST: Type.Optional(
    count('a number of simultaneous requests, at least 1', 1, RATE_LIMIT_RPM_MAX),
  ),
})
export type Settings = Static<typeof Settings>

interface TextOptions {
  readonly default?: string
  readonly pattern?: string
  readonly mask?: true | 'whole'
  readonly file?: true
}

function text(expected: string, options: TextOptions = {}) {
  return Type.String({ minLength: 1, ...options, expected })
}

function address() {
  return text('an IP address or a host name', { default: '127.0.0.1', pattern: '^[A-Za-z0-9.:_%-]+$' })
}

function url(expected: string, pattern: string) {
  return Type.Optional(text(expected, { pattern, mask: true }))
}

function file(expected: string) {
  return Type.Optional(text(expected, { file: true }))
}

function count(expected: string, minimum: number, maximum: number, byDefault?: number) {
  const options = { minimum, maximum, expected }
  return Type.Integer(byDefault === undefined ? options : { ...options, default: byDefault })
}

function kept(unit: string, maximum: number, byDefault: number) {
  return count(`a number of ${unit} from 1 to ${maximum}, or 0 for no limit`, 0, maximum, byDefault)
}

function keptOrOff(maximum: number, byDefault: number) {
  const number = Type.Integer({ minimum: 0, maximum })
  const expected = `a number of days from 1 to ${maximum}, 0 for no limit, or "off"`
  return Type.Union([Type.Literal('off'), number], { default: byDefault, expected })
}

function auto(expected: string, maximum: number) {
  const number = Type.Integer({ minimum: 1, maximum })
  return Type.Union([Type.Literal('auto'), number], { default: 'auto', expected })
}

function list(expected: string, pattern: string) {
  return Type.Array(Type.String({ pattern }), { default: [], expected })
}

/** Retention of ended objects; 0 = forever. Months are whole months, in addition to the current one. */
export interface Kept {
  readonly ledgerMonths: number
  readonly auditMonths: number
  readonly webhookDays: number
  readonly deadLetterDays: number
  readonly jobDays: number
  readonly generationDays: number
  /** Null: there is no request log. */
  readonly requestDays: number | null
}

export function keptOf(settings: Settings): Kept {
  return Object.freeze({
    ledgerMonths: settings.SLUICE_LEDGER_KEPT_MONTHS,
    auditMonths: settings.SLUICE_AUDIT_KEPT_MONTHS,
    webhookDays: settings.SLUICE_WEBHOOKS_KEPT_DAYS,
    deadLetterDays: settings.SLUICE_DEAD_LETTERS_KEPT_DAYS,
    jobDays: settings.SLUICE_JOBS_KEPT_DAYS,
    generationDays: settings.SLUICE_KEEP_GENERATIONS,
    requestDays: settings.SLUICE_KEEP_REQUESTS === 'off' ? null : settings.SLUICE_KEEP_REQUESTS,
  })
}
