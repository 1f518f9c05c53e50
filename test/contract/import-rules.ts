/** The imports that each folder may have, as data. Source: design §9 and §12. */
import type { SourceFile } from '../support/source.ts'
import { eachImport, folderOf, ourTarget } from './imports/each-import.ts'

const SERVER = 'src/server/'
/** Drivers know the shapes and the ports, and no other driver. */
const DRIVER = ['schemas', 'ports']

/** Our imports that a folder may have besides its own: a folder, or one file of it (`operations/define`). */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | 'all'>> = {
  schemas: [],
  // Pure: threads and the loop read and write the same forms by it.
  dialects: ['schemas'],
  ports: ['schemas', 'dialects'],
  operations: ['schemas', 'ports', 'dialects'],
  runner: ['schemas', 'ports', 'structures'],
  // The one rule of what a front caches of the store.
  caches: ['schemas', 'ports'],
  access: ['schemas', 'ports', 'operations/define', 'caches'],
  // Data structures that know nothing of what they hold.
  structures: ['schemas'],
  limits: ['schemas', 'ports', 'operations/define'],
  money: DRIVER,
  store: [...DRIVER, 'caches', 'structures'],
  redis: [...DRIVER, 'structures'],
  catalogue: DRIVER,
  journal: DRIVER,
  storage: [...DRIVER, 'structures'],
  files: DRIVER,
  upstream: [...DRIVER, 'dialects', 'caches', 'structures'],
  // One call to a model, from its plan to its record.
  inference: [...DRIVER, 'dialects', 'structures', 'upstream'],
  egress: [...DRIVER, 'structures'],
  vault: [...DRIVER, 'structures'],
  // The one form of an envelope: the front's own small secrets are sealed by it too.
  workers: [...DRIVER, 'dialects', 'vault/envelope'],
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
    // The table of what a translation changes, which the reference shows.
    'dialects/table/field-rows',
  ],
  // It implements the port `Observer`, whose types it takes.
  observe: ['schemas', 'ports', 'structures', 'dialects/table/field-names'],
  config: ['schemas'],
  // It runs in a browser, and knows the shapes as types alone.
  dashboard: ['schemas'],
  supervisor: ['schemas', 'ports', 'structures', 'config', 'observe', 'store/migrations/migrate'],
  cli: 'all',
  main: 'all',
}

/** What each folder of the table holds, for ARCHITECTURE.md. */
const HOLDS: Readonly<Record<string, string>> = {
  schemas: 'shapes of the wire, limits, failures, pure rules',
  dialects: 'forms of calls to models: chat, messages, responses, gemini',
  ports: 'interfaces that operations use and drivers implement',
  operations: 'one declarative object for each call of the API',
  runner: 'jobs, deliveries, sweeps and retention',
  caches: 'the one rule of what a front caches of the store',
  access: 'whose key it is, and what the key may do',
  structures: 'semaphores, queues, lists and joint timers that know nothing of what they hold',
  limits: 'rates, and the shares of an organization in a front',
  money: 'what a front reserves, borrows, charges and flushes',
  store: 'Postgres',
  redis: 'Redis: rates, hints, live views, wake-ups',
  catalogue: 'providers, models and prices, from files',
  journal: 'the log of money on the local disk',
  storage: 'objects on disk or S3',
  files: 'one file on its way in or out',
  upstream: 'protocols of providers',
  inference: 'one call to a model: plan, hold, send, relay, settle, record',
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

/** The table as ARCHITECTURE.md shows it; tools/generated-pages.mjs writes it there. */
export function importTable(): string {
  const reported = (names: readonly string[] | 'all'): string => {
    if (names === 'all') return 'everything'
    return names.length === 0 ? 'nothing' : names.map((name) => `\`${name}\``).join(', ')
  }
  const rows = Object.entries(MAY_IMPORT).map(
    ([folder, names]) => `| \`${folder}\` | ${HOLDS[folder] ?? ''} | ${reported(names)} |`,
  )
  return ['| Folder | What it holds | May import |', '| --- | --- | --- |', ...rows].join('\n')
}

/** Roots of the graph: they may import every folder, and no folder imports them. */
const ROOTS = new Set(['cli', 'main'])

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

/** Files other than operations/index.ts that re-export, one line each. */
export function barrels(files: readonly SourceFile[]): readonly string[] {
  return eachImport(files, (file, found) =>
    found.isReExport && file.path !== `${SERVER}operations/index.ts` ? `re-exports ${found.specifier}` : null,
  )
}

/** What belongs to every resource. */
const EVERYBODYS = [
  'define',
  'tags',
  'apply-preset',
  'model-calls',
  'clip-content',
  'name-hints',
  'named-organization',
].map((name) => `${SERVER}operations/${name}.ts`)

/** Resources do not import each other's operations; index.ts lists them all. */
function otherResource(from: string, to: string): string | null {
  const resource = (path: string): string =>
    path.slice(`${SERVER}operations/`.length).split('/').slice(0, -1).join('/')
  if (from === `${SERVER}operations/index.ts` || EVERYBODYS.includes(to)) return null
  return resource(from) === resource(to)
    ? null
    : `operations of ${resource(from)} may not import those of ${resource(to)}`
}
