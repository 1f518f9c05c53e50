/** Who may import whom, as data. Source: design §9 and §12. */
import { posix } from 'node:path'
import { importsOf, type Import, type SourceFile } from '../support/source.ts'

const SERVER = 'src/server/'
/** Drivers know the shapes and the ports, and no other driver. */
const DRIVER = ['schemas', 'ports']

/** What a folder may import of ours beside itself: a folder, or one file of it (`operations/define`). */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | 'all'>> = {
  schemas: [],
  ports: ['schemas'],
  operations: ['schemas', 'ports'],
  runner: ['schemas', 'ports', 'structures'],
  // The one rule of what a front caches of the store.
  caches: ['schemas', 'ports'],
  access: ['schemas', 'ports', 'operations/define', 'caches'],
  // Data structures that know nothing of what they hold.
  structures: ['schemas'],
  limits: ['schemas', 'ports', 'operations/define'],
  money: DRIVER,
  store: [...DRIVER, 'caches', 'structures'],
  redis: DRIVER,
  catalogue: DRIVER,
  journal: DRIVER,
  storage: [...DRIVER, 'structures'],
  files: DRIVER,
  upstream: [...DRIVER, 'caches'],
  egress: [...DRIVER, 'structures'],
  vault: [...DRIVER, 'structures'],
  // The one form of an envelope: the front's own small secrets are sealed by it too.
  workers: [...DRIVER, 'vault/envelope'],
  http: [
    'schemas',
    'ports',
    'access',
    'limits',
    'observe',
    'structures',
    'operations/define',
    'operations/index',
    'operations/tags',
  ],
  // It implements the port `Observer`, whose types it takes.
  observe: ['schemas', 'ports'],
  config: ['schemas'],
  // It runs in a browser, and knows the shapes as types alone.
  dashboard: ['schemas'],
  supervisor: ['schemas', 'ports', 'config', 'observe', 'store/migrations/migrate'],
  cli: 'all',
  main: 'all',
}

/** What each folder of the table holds, for ARCHITECTURE.md. */
const HOLDS: Readonly<Record<string, string>> = {
  schemas: 'shapes of the wire, limits, failures, pure rules',
  ports: 'interfaces that operations use and drivers implement',
  operations: 'one declarative object for each call of the API',
  runner: 'jobs, deliveries, sweeps and retention',
  caches: 'the one rule of what a front caches of the store',
  access: 'whose key it is, and what the key may do',
  structures: 'semaphores, queues and lists that know nothing of what they hold',
  limits: 'rates, and the shares of an organization in a front',
  money: 'what a front reserves, borrows, charges and flushes',
  store: 'Postgres',
  redis: 'Redis: rates, hints, live views, wake-ups',
  catalogue: 'providers, models and prices, from files',
  journal: 'the log of money on the local disk',
  storage: 'objects on disk or S3',
  files: 'one file on its way in or out',
  upstream: 'protocols of providers',
  egress: 'the one gate to the outside',
  vault: 'root keys, data keys, sealed values and their release',
  workers: 'CPU-heavy tasks, in threads',
  http: 'listener, stages of a request, bodies, replies, OpenAPI',
  observe: 'log, metrics, traces',
  config: 'settings, read once',
  dashboard: "the operator's page, for browsers",
  supervisor: 'processes, embedded services, reload, admin port',
  cli: 'one file for each verb',
  main: 'wiring: builds drivers and hands them over',
}

/** The table as ARCHITECTURE.md shows it; tools/decisions.mjs writes it there. */
export function importTable(): string {
  const told = (names: readonly string[] | 'all'): string => {
    if (names === 'all') return 'everything'
    return names.length === 0 ? 'nothing' : names.map((name) => `\`${name}\``).join(', ')
  }
  const rows = Object.entries(MAY_IMPORT).map(
    ([folder, names]) => `| \`${folder}\` | ${HOLDS[folder] ?? ''} | ${told(names)} |`,
  )
  return ['| Folder | What it holds | May import |', '| --- | --- | --- |', ...rows].join('\n')
}

/** The subjects of the product: a subfolder of a layer bears the name of one. */
export const SUBJECTS = [
  'models',
  'embeddings',
  'files',
  'containers',
  'videos',
  'webhooks',
  'vault',
  'endpoints',
  'egress',
  'keys',
  'workspaces',
  'money',
  'presets',
  'scim',
  'audit',
  'operator',
  'inference',
] as const

interface SubjectRules {
  /** Folders below the subjects, which every subject may import; files of the layer itself belong to them. */
  readonly base: readonly string[]
  /** Folders above the subjects, which may import all of them. */
  readonly above: readonly string[]
  /** What a subject may import of other subjects. */
  readonly rows: Readonly<Record<string, readonly string[]>>
}

/** The layers whose subfolders are subjects, and which subject may import which other one. */
export const SUBJECT_LAYERS: Readonly<Record<string, SubjectRules>> = {
  schemas: {
    base: ['lists', 'limits', 'values'],
    above: [],
    rows: {
      embeddings: ['models', 'presets'],
      endpoints: ['money', 'vault'],
      files: ['containers'],
      models: ['workspaces'],
      money: ['operator'],
      // What the installation is set up with, and what its operators see of everything.
      operator: ['videos', 'webhooks'],
      presets: ['models'],
      scim: ['workspaces'],
      videos: ['money', 'presets', 'webhooks'],
      webhooks: ['money', 'videos'],
      workspaces: ['egress', 'operator'],
    },
  },
  ports: {
    base: [],
    above: [],
    rows: {
      containers: ['files'],
      embeddings: ['models', 'money'],
      endpoints: ['keys', 'models', 'vault'],
      files: ['containers', 'vault'],
      keys: ['money', 'vault'],
      models: ['egress'],
      money: ['keys', 'vault'],
      operator: ['vault', 'workspaces'],
      presets: ['vault', 'workspaces'],
      scim: ['vault', 'workspaces'],
      vault: ['audit'],
      videos: ['keys', 'models'],
      webhooks: ['vault'],
      workspaces: ['vault'],
    },
  },
  // Resources of the API do not know each other; `wrongDirections` holds them to that.
  operations: { base: [], above: [], rows: {} },
  runner: { base: [], above: [], rows: {} },
  upstream: {
    base: [],
    above: [],
    // A workspace's own endpoints and keys call providers as the operator's do, and are targets of a call.
    rows: { embeddings: ['endpoints'], endpoints: ['embeddings'] },
  },
  store: {
    base: ['base', 'migrations'],
    // The begin and the end of a whole owner touch every subject.
    above: ['lifecycle'],
    rows: {
      containers: ['files'],
      files: ['containers', 'videos'],
      keys: ['money', 'workspaces'],
      money: ['nodes'],
      nodes: [],
      operator: ['webhooks', 'workspaces'],
      vault: ['endpoints'],
      videos: ['money', 'webhooks'],
      workspaces: ['money', 'scim', 'vault'],
    },
  },
  cli: {
    base: ['parts'],
    above: [],
    rows: {
      files: ['vault'],
      operator: ['keys', 'models', 'vault'],
      scim: ['keys'],
      vault: ['operator'],
      webhooks: ['vault'],
      workspaces: ['vault'],
    },
  },
}

/** Roots of the graph: they import everybody and nobody imports them. */
const ROOTS = new Set(['cli', 'main'])

/** Which folders may import a package that is a driver's client library or that only one part should know. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['http'],
  busboy: ['http'],
  undici: ['egress'],
  '@aws-sdk/client-s3': ['storage'],
  postgres: ['store'],
  ioredis: ['redis'],
  'js-redis-server': ['supervisor'],
  piscina: ['workers'],
  pino: ['observe'],
  'prom-client': ['observe'],
  '@opentelemetry/api': ['observe'],
  commander: ['cli'],
  preact: ['dashboard'],
  uplot: ['dashboard'],
  '@clack/prompts': ['cli'],
}

/** Modules that open sockets, and the folders that design §9 names beside the gate. */
const SOCKET_MODULES = new Set(['undici', 'net', 'tls', 'http', 'https', 'http2', 'dns', 'dgram'])
const MAY_OPEN_SOCKETS = new Set(['egress', 'store', 'redis', 'storage/s3', 'observe', 'http', 'supervisor'])
const SOCKET_GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])

/**
 * The uWebSockets.js repack exports `default` alone: a named value import type-checks and fails at run time.
 */
const UWS_CLAUSE = /^uWS(?: , \{ type \w+(?: , type \w+)*(?: ,)? \})?$/

/** Imports that the table does not allow, one line each. */
export function wrongDirections(files: readonly SourceFile[]): readonly string[] {
  return eachImport(files, (file, found) => {
    const target = ourTarget(file, found)
    if (target === null) return null
    const from = folderOf(file.path)
    const to = folderOf(target)
    const allowed = MAY_IMPORT[from]
    if (allowed === undefined) return `${from} has no row in the table`
    if (ROOTS.has(to) && !ROOTS.has(from)) return `${to} is never imported`
    if (from === 'operations' && to === 'operations') return otherResource(file.path, target)
    if (from === to || allowed === 'all') return null
    const part = target.slice(target.indexOf(to)).replace(/\.tsx?$/, '')
    return allowed.some((name) => name === to || name === part) ? null : `${from} may not import ${part}`
  })
}

/**
 * Imports of another subject that no row of its layer allows, and folders that are no subject; one line each.
 */
export function wrongSubjects(files: readonly SourceFile[]): readonly string[] {
  const strangers = new Set(
    files.flatMap((file) => {
      const at = subjectOf(file.path)
      return at === null || isKnownFolder(at) ? [] : [`${at.layer}/${at.folder} is the name of no subject`]
    }),
  )
  const imports = eachImport(files, (file, found) => {
    const target = ourTarget(file, found)
    const from = subjectOf(file.path)
    const to = target === null ? null : subjectOf(target)
    if (from === null || to === null || from.layer !== to.layer || from.folder === to.folder) return null
    const { base, above, rows } = rulesOf(from.layer)
    if (base.includes(to.folder) || above.includes(from.folder) || isLimits(target)) return null
    if (base.includes(from.folder))
      return `${from.folder} is below the subjects and may not import ${to.folder}`
    return rows[from.folder]?.includes(to.folder) === true
      ? null
      : `${from.layer}/${from.folder} may not import ${to.folder}`
  })
  return [...strangers, ...imports]
}

interface SubjectPlace {
  readonly layer: string
  readonly folder: string
}

/** Named limits of a subject are for every subject. */
function isLimits(target: string | null): boolean {
  return target?.endsWith('-limits.ts') === true
}

/** Null for files that lie in their layer itself, and for layers that have no subjects. */
function subjectOf(path: string): SubjectPlace | null {
  const [layer = '', folder = '', file] = path.replace(/^src\/(?:server\/)?/, '').split('/')
  return file === undefined || SUBJECT_LAYERS[layer] === undefined ? null : { layer, folder }
}

function rulesOf(layer: string): SubjectRules {
  return SUBJECT_LAYERS[layer] ?? { base: [], above: [], rows: {} }
}

function isKnownFolder({ layer, folder }: SubjectPlace): boolean {
  const { base, above, rows } = rulesOf(layer)
  return (
    SUBJECTS.some((name) => name === folder) || [...base, ...above, ...Object.keys(rows)].includes(folder)
  )
}

/** Rows of the table of subjects that nothing needs, one line each. */
export function idleSubjectRows(files: readonly SourceFile[]): readonly string[] {
  const used = new Set(
    files.flatMap((file) =>
      importsOf(file).flatMap((found) => {
        const target = ourTarget(file, found)
        const from = subjectOf(file.path)
        const to = target === null ? null : subjectOf(target)
        return from === null || to === null || isLimits(target)
          ? []
          : [`${from.layer}: ${from.folder} → ${to.folder}`]
      }),
    ),
  )
  return Object.entries(SUBJECT_LAYERS)
    .flatMap(([layer, { rows }]) =>
      Object.entries(rows).flatMap(([from, names]) => names.map((to) => `${layer}: ${from} → ${to}`)),
    )
    .filter((row) => !used.has(row))
}

/**
 * Groups of files that import each other in a circle, types included, one line each: no file of such a group
 * can be read, moved or tested without the others.
 */
export function importCycles(files: readonly SourceFile[]): readonly string[] {
  const imports = withoutEnds(new Map(files.map((file) => [file.path, targetsOf(file)])))
  const paths = [...imports.keys()]
  const reached = new Map(paths.map((path) => [path, reachedFrom(path, imports)]))
  const isTogether = (a: string, b: string): boolean =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true
  const groups = paths.map((path) => paths.filter((other) => isTogether(path, other)))
  return [...new Set(groups.filter((group) => group.length > 0).map((group) => group.join(' ↔ ')))]
}

/** Leaves out files that import none of the others, until each file that stays leads to a circle. */
function withoutEnds(
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const rest = new Map([...imports].filter(([, targets]) => targets.some((target) => imports.has(target))))
  return rest.size === imports.size ? rest : withoutEnds(rest)
}

function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap((found) => ourTarget(file, found) ?? [])
}

/** Every file that a file imports, also by way of others; the file itself only where a circle leads back. */
function reachedFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [...(imports.get(path) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return reached
}

/** Packages imported outside their home, one line each. */
export function packagesAbroad(files: readonly SourceFile[]): readonly string[] {
  return eachImport(files, (file, found) => {
    const name = packageOf(found.specifier)
    const homes = name === null ? undefined : PACKAGE_HOMES[name]
    return homes === undefined || homes.includes(folderOf(file.path))
      ? null
      : `${name} belongs in ${homes.join(', ')}`
  })
}

/** Sockets that could be opened outside the egress gate, one line each. */
export function socketsOutsideGate(files: readonly SourceFile[]): readonly string[] {
  const imported = eachImport(files, (file, found) => {
    const name = found.specifier.replace(/^node:/, '').split('/')[0] ?? ''
    return SOCKET_MODULES.has(name) && !mayOpenSockets(file) ? `${name} opens sockets outside the gate` : null
  })
  const called = files
    .filter((file) => !mayOpenSockets(file))
    .flatMap((file) =>
      file.tokens
        .filter(
          (token, index) =>
            token.kind === 'word' &&
            SOCKET_GLOBALS.has(token.text) &&
            file.tokens[index - 1]?.text !== '.' &&
            /^[(<]$/.test(file.tokens[index + 1]?.text ?? ''),
        )
        .map((token) => `${file.path}:${token.line} ${token.text} opens sockets outside the gate`),
    )
  return [...imported, ...called]
}

/** Files other than operations/index.ts that re-export, one line each. */
export function barrels(files: readonly SourceFile[]): readonly string[] {
  return eachImport(files, (file, found) =>
    found.isReExport && file.path !== `${SERVER}operations/index.ts` ? `re-exports ${found.specifier}` : null,
  )
}

/** Imports of uWebSockets.js: by whom, and those in a form that fails at run time. */
export function frontEndImports(files: readonly SourceFile[]): {
  readonly by: readonly string[]
  readonly wrongForm: readonly string[]
} {
  const isFrontEnd = (found: Import): boolean => found.specifier === 'uWebSockets.js'
  return {
    by: files.filter((file) => importsOf(file).some(isFrontEnd)).map((file) => file.path),
    wrongForm: eachImport(files, (_file, found) =>
      isFrontEnd(found) && !UWS_CLAUSE.test(found.clause) ? `import ${found.clause}` : null,
    ),
  }
}

function eachImport(
  files: readonly SourceFile[],
  judge: (file: SourceFile, found: Import) => string | null,
): readonly string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap((found) => {
      const finding = judge(file, found)
      return finding === null ? [] : [`${file.path}:${found.line} ${finding}`]
    }),
  )
}

/** `schemas`, `http`, `config`, `workers`, …: the row of the table that a path belongs to. */
function folderOf(path: string): string {
  const parts = path.replace(/^src\/(?:server\/)?/, '').split('/')
  return (parts[0] ?? '').replace(/\.tsx?$/, '')
}

function ourTarget(file: SourceFile, found: Import): string | null {
  return found.specifier.startsWith('.') ? posix.join(posix.dirname(file.path), found.specifier) : null
}

function packageOf(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null
  const [scope = '', name] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

/** What belongs to every resource. */
const EVERYBODYS = ['define', 'tags', 'apply-preset', 'clip-content', 'name-hints', 'named-organization'].map(
  (name) => `${SERVER}operations/${name}.ts`,
)

/** Resources do not import each other's operations; index.ts lists them all. */
function otherResource(from: string, to: string): string | null {
  const resource = (path: string): string =>
    path.slice(`${SERVER}operations/`.length).split('/').slice(0, -1).join('/')
  if (from === `${SERVER}operations/index.ts` || EVERYBODYS.includes(to)) return null
  return resource(from) === resource(to)
    ? null
    : `operations of ${resource(from)} may not import those of ${resource(to)}`
}

/** The page's one way out: to the port that it came from, which its policy holds it to. */
const PAGE_CALLS = `${SERVER}dashboard/page/api.ts`

function mayOpenSockets(file: SourceFile): boolean {
  return (
    MAY_OPEN_SOCKETS.has(folderOf(file.path)) ||
    file.path.startsWith(`${SERVER}storage/s3`) ||
    file.path === PAGE_CALLS
  )
}
