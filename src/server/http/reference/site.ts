import { STATUS_CODES } from 'node:http'
import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import {
  API_PREFIX,
  DOCS_PATH,
  GUIDES_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
  ERRORS_PATH,
} from '../../../schemas/api-prefix.ts'
import {
  fail,
  ok,
  type FailureName,
  type Outcome,
  FAILURES,
  REASONS,
  textOf,
  type FailureRow,
} from '../../../schemas/failures.ts'
import { Asset, type Page } from './asset.ts'
import type { RequestHead } from '../call/head.ts'
import type { AnyOperation } from '../../operations/define.ts'
import { FAILURE_CAUSES } from '../../../schemas/failure-causes.ts'
import { FAILURE_SAMPLES, type SampleCall } from '../../../schemas/failure-samples.ts'
import { remedyOf } from '../../../schemas/remedies.ts'
import { replyOfFailure } from '../reply/reply.ts'
import { failureNamesOf } from './openapi-failures.ts'
import { blockOf } from './pages/highlight.ts'
import { shellOf } from './pages/shell.ts'
import { inline } from './pages/html.ts'
import { HEALTH, READ_POLICY, REFERENCE_POLICY, WRITTEN_ORIGIN } from './docs-page.ts'

const ROOT = '/'
/** The page at `/`: redirects a browser, and lists the addresses of all pages in JSON for other clients. */
const BEGINNING: Page = {
  status: 302,
  headers: [
    'location',
    DOCS_PATH,
    'content-type',
    'application/json; charset=utf-8',
    'x-content-type-options',
    'nosniff',
    'cache-control',
    'no-cache',
  ],
  body: `${JSON.stringify({ service: 'sluice', api: API_PREFIX, docs: DOCS_PATH, openapi: OPENAPI_PATH, health: '/healthz' })}\n`,
}

/** Reports whether this front accepts calls, for a load balancer; the admin port shows the reason. */
const READY_PATH = '/readyz'
const READY: Page = {
  status: 200,
  headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
  body: '{"status":"ready"}',
}

/** The build writes the files of the pages here. */
const DOCS_FILES = new URL('../docs/', import.meta.url)
/** The document of all operations, written by the build: deriving it takes a tenth of a second, which fronts save. */
export const BUILT_OPENAPI = Asset.ofFile('application/json', new URL(basename(OPENAPI_PATH), DOCS_FILES))

/** Files that pages load, and their types. */
const LOADED = [
  [`${DOCS_PATH}/guides.css`, 'text/css'],
  [`${DOCS_PATH}/guides.js`, 'text/javascript'],
  [`${DOCS_PATH}/guides-index.js`, 'text/javascript'],
  [`${DOCS_PATH}/reference.js`, 'text/javascript'],
] as const

/** Pages at the root, without a key: `/`, `/healthz`, `/readyz`, `/openapi.json`, `/docs` and the pages below it. */
export class Site {
  readonly #assets: ReadonlyMap<string, Asset>
  #obstacle = (): FailureName | null => null

  /** @param openApi the OpenAPI document @param operations that pages of errors name */
  constructor(openApi: Asset, operations: readonly AnyOperation[]) {
    this.#assets = new Map([
      ['/healthz', Asset.ofText('application/json', HEALTH, ['cache-control', 'no-store'])],
      [OPENAPI_PATH, openApi],
      ...LOADED.map(([path, type]): [string, Asset] => [
        path,
        Asset.ofFile(type, new URL(basename(path), DOCS_FILES)),
      ]),
      ...pagesOf('reference', DOCS_PATH, { at: REFERENCE_PATH, policy: REFERENCE_POLICY }),
      ...pagesOf('guides', GUIDES_PATH, { at: GUIDES_PATH, policy: READ_POLICY }),
      ...errorPages(operations).map(({ path, html }): [string, Asset] => [
        path,
        new Asset('text/html', () => Promise.resolve(Buffer.from(html())), [
          'content-security-policy',
          READ_POLICY,
        ]),
      ]),
    ])
  }

  /** @param obstacle returns why the front that serves these pages accepts no calls; null: it accepts calls */
  follow(obstacle: () => FailureName | null): void {
    this.#obstacle = obstacle
  }

  /**
   * Null when there is no page at the path.
   * @param origin by which callers reach this installation; pages show it in their samples
   */
  find(head: RequestHead, origin: string): Outcome<Page> | Promise<Outcome<Page>> | null {
    const asset = this.#assets.get(head.path)
    if (asset === undefined && head.path !== ROOT && head.path !== READY_PATH) return null
    if (head.method !== 'get' && head.method !== 'head') {
      return fail('method_not_allowed', { fields: { allowed: 'GET, HEAD' } })
    }
    if (head.path === READY_PATH) {
      const obstacle = this.#obstacle()
      return obstacle === null ? ok(READY) : fail(obstacle)
    }
    const page = asset?.page(head, origin) ?? BEGINNING
    return page instanceof Promise ? page.then(ok) : ok(page)
  }
}

/** The build creates a file for each page; the files present are the pages served. Compiled code without a build has none. */
function pagesOf(
  name: 'reference' | 'guides',
  first: string,
  { at, policy }: { readonly at: string; readonly policy: string },
): readonly [string, Asset][] {
  const folder = new URL(`${name}/`, DOCS_FILES)
  const files = existsSync(folder) ? readdirSync(folder) : []
  return files.flatMap((file) => {
    const page = Asset.ofFile('text/html', new URL(file, folder), ['content-security-policy', policy])
    const own = file.slice(0, -'.html'.length)
    return own === 'index'
      ? [
          [first, page],
          [`${first}/`, page],
        ]
      : [[`${at}/${own}`, page]]
  })
}

const NAMES = Object.keys(FAILURES) as FailureName[]
/** Never reaches the wire. */
const NEVER_SENT: FailureName = 'client_gone'
const SHOWN = NAMES.filter((name) => name !== NEVER_SENT)
/** Operations that a page lists; a failure of more operations is described as one of any call. Decision. */
const OPERATIONS_LISTED_MAX = 16

/** A page that is created when it is first read: most are never requested. */
interface ErrorPage {
  readonly path: string
  readonly html: () => string
}

/** A page for each error type, and a list of them, made from the catalogue of failures and from the operations that may return them. */
export function errorPages(operations: readonly AnyOperation[]): readonly ErrorPage[] {
  const byName = new Map<FailureName, AnyOperation[]>(SHOWN.map((name) => [name, []]))
  for (const operation of operations)
    for (const name of failureNamesOf(operation)) byName.get(name)?.push(operation)
  return [
    { path: ERRORS_PATH, html: listOfAll },
    ...SHOWN.map((name) => ({
      path: `${ERRORS_PATH}/${name}`,
      html: () => pageOf(name, byName.get(name) ?? []),
    })),
  ]
}

function listOfAll(): string {
  const list = SHOWN.map(
    (name) =>
      `<li><a href="${ERRORS_PATH}/${name}"><code>${name}</code></a>: ${inline(messageOf(name))}</li>`,
  )
  return shellOf({
    title: 'Error types',
    body:
      '<h1>Error types</h1>\n<p>Each error answer has one of these as <code>error.metadata.error_type</code>. ' +
      `<a href="${GUIDES_PATH}/errors">Errors</a> explains how a program handles them.</p>\n<ul>\n${list.join('\n')}\n</ul>\n`,
  })
}

const RETRY: Readonly<Record<FailureRow['retry'], string>> = {
  no: 'No: repeating the call cannot help.',
  after_change: 'Only after a change: the unchanged call would be refused again.',
  backoff:
    'Yes, with increasing delays; if the answer has <code>Retry-After</code>, wait at least that long.',
}

const SIDE: Readonly<Record<FailureRow['fault'], string>> = {
  caller: 'the call, its key or a setting of the organization',
  ours: 'the node, its stores or a provider',
}

function pageOf(name: FailureName, operations: readonly AnyOperation[]): string {
  const row: FailureRow = FAILURES[name]
  const statuses = row.status.map((status) =>
    `${status} ${STATUS_CODES[status] ?? REASONS[status] ?? ''}`.trim(),
  )
  const facts = [
    ['Status', `${statuses.join(' or ')}${statuses.length > 1 ? ', depending on the operation' : ''}`],
    ['Caused by', SIDE[row.fault]],
    ['Retry', RETRY[row.retry]],
  ]
  const table = facts
    .map(([title, text]) => `<tr><th scope="row">${title}</th><td>${text}</td></tr>`)
    .join('\n')
  return shellOf({
    title: name,
    body: [
      `<h1><code>${name}</code></h1>\n<p>${inline(messageOf(name))}</p>\n`,
      `<div class="table" tabindex="0">\n<table>\n${table}\n</table>\n</div>\n`,
      part('Cause', `<p>${inline(FAILURE_CAUSES[name])}</p>\n`),
      part('Fix', `<p>${inline(remedyOf(name))}</p>\n`),
      part('Example answer', blockOf(exampleOf(name, operations), 'json')),
      commandOf(FAILURE_SAMPLES[name]?.calls),
      placesOf(operations),
    ].join(''),
  })
}

/** A section without an anchor: the search finds the page, but not its parts, which are the same on all pages. */
function part(title: string, html: string): string {
  return `<h2>${title}</h2>\n${html}`
}

const EXAMPLE_ID = 'q5vX0cPz3mJ8sT2yLw7K'

/** The body of an error, made by the code that writes real answers. */
function exampleOf(name: FailureName, operations: readonly AnyOperation[]): string {
  const facts = {
    ...{ requestId: EXAMPLE_ID, startedAt: 0, notes: {}, limitHeaders: null, remarks: [], corsHeaders: [] },
    ...{ isScim: isOfScim(operations), isAnthropic: false, head: { ownOrigin: WRITTEN_ORIGIN } },
  }
  const { body } = replyOfFailure({ name, ...FAILURE_SAMPLES[name]?.failure }, null, facts)
  return JSON.stringify(JSON.parse(String(body)), null, 2)
}

/** Whether only SCIM operations return the failure, whose errors then have the format of RFC 7644. */
function isOfScim(operations: readonly AnyOperation[]): boolean {
  return operations.length > 0 && operations.every(({ area }) => area === 'scim')
}

function commandOf(calls: readonly SampleCall[] | undefined): string {
  if (calls === undefined) return ''
  return part('Command that reproduces the error', blockOf(calls.map(curlOf).join('\n'), 'sh'))
}

/** A call as a command for a shell. */
export function curlOf({ method, path, key, body, options = [] }: SampleCall): string {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const isTyped = options.some((option) => /content-type/i.test(option))
  const parts = [
    `curl -s${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`}`,
    `'${WRITTEN_ORIGIN}${path}'`,
    ...(key === null ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(text === undefined || isTyped ? [] : ["-H 'Content-Type: application/json'"]),
    ...options,
    ...(text === undefined ? [] : [`-d '${text}'`]),
  ]
  return parts.join(' ')
}

/** The operations that may return the failure, with links to the reference. */
function placesOf(operations: readonly AnyOperation[]): string {
  if (operations.length === 0) return ''
  if (operations.length > OPERATIONS_LISTED_MAX)
    return part('Operations', `<p>${operations.length} operations may answer with it.</p>\n`)
  const items = operations.map(
    ({ id, tag, summary }) => `<li><a href="${REFERENCE_PATH}/${tag}#${id}">${inline(summary)}</a></li>`,
  )
  return part('Operations', `<ul>\n${items.join('\n')}\n</ul>\n`)
}

/** The message of a failure, filled with the values of its example. */
function messageOf(name: FailureName): string {
  const fields = FAILURE_SAMPLES[name]?.failure?.fields
  return textOf({ name, ...(fields !== undefined && { fields }) })
}
