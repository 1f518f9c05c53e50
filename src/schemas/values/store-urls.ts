/** Scheme, user and password, hosts, and the rest. */
const PARTS = /^([a-z+]+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/is
/** A name, or an IPv6 address in brackets, and its port. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/
const POSTGRES_PORT = 5_432
const SENTINEL_PORT = 26_379

/** Parameters that clients of libpq and Prisma write into a URL and that Sluice ignores, with the reason. */
const IGNORED: Readonly<Record<string, string>> = {
  application_name: 'Sluice names each connection after its process, such as sluice-front-0',
  connect_timeout: 'connection attempts always time out after 2 s',
  channel_binding: 'use sslmode=verify-full to authenticate the server',
  fallback_application_name: 'Sluice names each connection after its process',
  client_encoding: 'Sluice always uses UTF-8',
  ...alike('the operating system determines the value', [
    'keepalives',
    'keepalives_idle',
    'keepalives_interval',
    'keepalives_count',
  ]),
  ...alike('the operating system determines the value', [
    'tcp_user_timeout',
    'gssencmode',
    'gsslib',
    'krbsrvname',
    'gssdelegation',
  ]),
  ...alike('Node.js determines the value', [
    'sslcompression',
    'sslsni',
    'ssl_min_protocol_version',
    'sslcrl',
    'sslcrldir',
  ]),
  ...alike('Node.js determines the value', ['ssl_max_protocol_version', 'sslcertmode', 'sslpassword']),
  ...alike('only libpq supports the parameter', [
    'passfile',
    'service',
    'servicefile',
    'hostaddr',
    'load_balance_hosts',
  ]),
  ...alike('only libpq supports the parameter', ['require_auth', 'replication', 'requirepeer']),
  ...alike('only Prisma supports the parameter', [
    'schema',
    'pgbouncer',
    'connection_limit',
    'pool_timeout',
    'sslaccept',
  ]),
  ...alike('only Prisma supports the parameter', [
    'socket_timeout',
    'statement_cache_size',
    'sslidentity',
    'single_use_connections',
  ]),
}

/** Parameter that carries a pooler's mode in the URL once it was detected at the start. */
export const POOL_MODE = 'pool_mode'
/** `transaction`: each transaction may run on another server connection. */
export const POOL_MODES = ['session', 'transaction'] as const
export type PoolMode = (typeof POOL_MODES)[number]

/** Values that libpq knows, by parameter: a misspelled `sslmode` would verify the server less strictly than requested. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  target_session_attrs: ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'],
}

export interface PostgresAddress {
  /** Names, or addresses without brackets, in the order in which they are tried. */
  readonly hosts: readonly string[]
  readonly ports: readonly number[]
  /** Folder of a Unix socket; null: a network connection. */
  readonly folder: string | null
  /** `sslmode`; null: not given. */
  readonly sslMode: string | null
  /** Path of a file with certificate authorities, `system`, or null. */
  readonly rootCertificates: string | null
  /** Path of the client's certificate, and of its key. */
  readonly certificate: string | null
  readonly privateKey: string | null
  readonly targetSession: string | null
  /** Mode of a pooler before the server; null: none, or one that needs no special treatment. */
  readonly pooler: PoolMode | null
  /** User, password, database and every other parameter, with the first host. */
  readonly href: string
  /** One sentence for each ignored parameter. */
  readonly remarks: readonly string[]
}

/** Reads a URL as libpq does: several hosts, IPv6 addresses, `?host=/folder`, files of certificates. */
export function readPostgresUrl(text: string): PostgresAddress {
  const hosts = hostsIn(text, POSTGRES_PORT)
  const url = new URL(withOneHost(text))
  const take = (name: string): string | null => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value
  }
  const at = url.searchParams.get('host')
  const folder = at?.startsWith('/') === true ? take('host') : null
  const ignored = [...new Set(url.searchParams.keys())].filter((name) => Object.hasOwn(IGNORED, name))
  for (const name of ignored) take(name)
  const [sslMode, pooler, session] = [take('sslmode'), take(POOL_MODE), take('target_session_attrs')]
  return {
    hosts: hosts.map(({ host }) => host),
    ports: hosts.map(({ port }) => port),
    folder,
    sslMode,
    rootCertificates: take('sslrootcert'),
    certificate: take('sslcert'),
    privateKey: take('sslkey'),
    targetSession: session === 'any' ? null : session,
    pooler: POOL_MODES.find((mode) => mode === pooler) ?? null,
    href: url.href,
    remarks: ignored.map((name) => `${name} is ignored: ${IGNORED[name] ?? ''}`),
  }
}

/** Parameters of a Postgres URL with invalid values. @param url as for `readPostgresUrl` */
export function wrongParameters(
  url: string,
): readonly { readonly name: string; readonly given: string; readonly values: readonly string[] }[] {
  const { searchParams } = new URL(withOneHost(url))
  return Object.entries(VALUES).flatMap(([name, values]) =>
    searchParams
      .getAll(name)
      .filter((given) => !values.includes(given))
      .map((given) => ({ name, given, values })),
  )
}

/** No host of a Postgres URL is usable; the message lists each host with the reason. */
export class NoHost extends AggregateError {}

/** A URL of Redis, or of the Sentinels that know its primary. */
export interface RedisAddress {
  /** Sentinels in the order in which they are asked; null: the URL is that of the server itself. */
  readonly sentinels: readonly StoreHost[] | null
  /** The name of the primary at its Sentinels. */
  readonly name: string
  readonly db: number
  readonly username: string
  readonly password: string
  readonly sentinelPassword: string | null
  readonly isTls: boolean
  /** Path of a file with certificate authorities; null: those of Node. */
  readonly rootCertificates: string | null
  /** The URL without the parts that are read here. */
  readonly href: string
}

export interface StoreHost {
  /** A name, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/** Reads `redis://host:port/db` and `redis+sentinel://user:password@host:port,host:port/name/db`. */
export function readRedisUrl(text: string): RedisAddress {
  const url = new URL(withOneHost(text))
  const [rootCertificates, sentinelPassword] = ['sslrootcert', SENTINEL_PASSWORD].map((name) => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value
  })
  const [, name = '', db = '0'] = url.pathname.split('/')
  return {
    sentinels: /^rediss?\+sentinel:/.test(text) ? hostsIn(text, SENTINEL_PORT) : null,
    name: decodeURIComponent(name),
    db: Number(db),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    sentinelPassword: sentinelPassword ?? null,
    isTls: text.startsWith('rediss'),
    rootCertificates: rootCertificates ?? null,
    href: url.href,
  }
}

/** Parameter that carries the password of the Sentinels in their URL. */
export const SENTINEL_PASSWORD = 'sentinel_password'

/** Adds a parameter to a store's URL, unless the URL already has it or the value is null. */
export function withParameter(url: string, name: string, value: string | null): string {
  if (value === null || new URL(withOneHost(url)).searchParams.has(name)) return url
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}

function hostsIn(url: string, port: number): readonly StoreHost[] {
  const [, , , authority = ''] = PARTS.exec(url) ?? []
  return authority.split(',').map((one) => {
    const [, name = '', ownPort] = HOST.exec(one) ?? [one, one]
    const host = decodeURIComponent(name).replace(/^\[|\]$/g, '')
    return { host, port: ownPort === undefined ? port : Number(ownPort) }
  })
}

/** A URL of a store with only its first host: a URL may have several hosts, but `URL` supports only one. */
export function withOneHost(url: string): string {
  return url.replace(PARTS, (_, scheme: string, user: string | undefined, hosts: string, rest: string) =>
    [scheme, user ?? '', hosts.split(',', 1)[0] ?? '', rest].join(''),
  )
}

/**
 * Hosts and ports, or the folder of the socket, for messages; never user or password. @param url a URL whose
 * password has no unescaped character
 */
export function placeOfPostgres(url: string): string {
  const { hosts, ports, folder } = readPostgresUrl(url)
  const named = hosts.map((host, nth) => `${host.includes(':') ? `[${host}]` : host}:${ports[nth] ?? ''}`)
  return folder ?? named.join(', ')
}

function alike(why: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, why]))
}
