import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import {
  API_PREFIX,
  DOCS_PATH,
  GUIDES_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
} from '../../../schemas/api-prefix.ts'
import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { Asset, type Page } from './asset.ts'
import { errorPages } from './error-pages.ts'
import { HEALTH, READ_POLICY, REFERENCE_POLICY } from './docs-page.ts'
import type { RequestHead } from '../call/head.ts'
import type { AnyOperation } from '../../operations/define.ts'

const ROOT = '/'
/** Lists the addresses of all pages, for a browser and for a caller by hand. */
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

/** Whether this front takes calls, for a load balancer; the admin port shows the reason. */
const READY_PATH = '/readyz'
const READY: Page = {
  status: 200,
  headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
  body: '{"status":"ready"}',
}

/** The build puts the files of the pages here. */
const DOCS_FILES = new URL('../docs/', import.meta.url)
/** The document of all operations as the build wrote it: to derive it takes a tenth of a second, which no front spends. */
export const BUILT_OPENAPI = Asset.ofFile('application/json', new URL(basename(OPENAPI_PATH), DOCS_FILES))

/** What pages load, and its types. */
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

  /** @param obstacle why the front that serves these pages takes no calls; null: it does */
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
