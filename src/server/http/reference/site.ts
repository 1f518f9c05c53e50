import { readdirSync } from 'node:fs'
import { API_PREFIX, DOCS_PATH, GUIDES_PATH, OPENAPI_PATH } from '../../../schemas/api-prefix.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { Asset, type Page } from './asset.ts'
import { errorPages } from './error-pages.ts'
import { DOCS_PAGE, DOCS_PAGE_POLICY, DOCS_SCRIPT, GUIDE_POLICY, HEALTH } from './docs-page.ts'
import type { RequestHead } from '../call/head.ts'

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

/** The build copies these files beside the compiled code. */
const DOCS_FILES = new URL('../docs/', import.meta.url)

/**
 * Pages at the root, without a key: `/`, `/healthz`, `/openapi.json`, `/docs` and the guides below it. C29.
 */
export class Site {
  readonly #assets: ReadonlyMap<string, Asset>

  /** @param openApi text of the document */
  constructor(openApi: string) {
    const page = Asset.ofText('text/html', DOCS_PAGE, ['content-security-policy', DOCS_PAGE_POLICY])
    this.#assets = new Map([
      ['/healthz', Asset.ofText('application/json', HEALTH, ['cache-control', 'no-store'])],
      [OPENAPI_PATH, Asset.ofText('application/json', openApi)],
      [DOCS_PATH, page],
      ['/docs/', page],
      ['/docs/start.js', Asset.ofText('text/javascript', DOCS_SCRIPT)],
      [
        '/docs/swagger-ui-bundle.js',
        Asset.ofFile('text/javascript', new URL('swagger-ui-bundle.js', DOCS_FILES)),
      ],
      ['/docs/swagger-ui.css', Asset.ofFile('text/css', new URL('swagger-ui.css', DOCS_FILES))],
      ['/docs/guides.css', Asset.ofFile('text/css', new URL('guides.css', DOCS_FILES))],
      ...guides(),
      ...errorPages().map(([path, html]): [string, Asset] => [
        path,
        Asset.ofText('text/html', html, ['content-security-policy', GUIDE_POLICY]),
      ]),
    ])
  }

  /** Null when there is no page at the path. */
  find(head: RequestHead): Outcome<Page> | Promise<Outcome<Page>> | null {
    const asset = this.#assets.get(head.path)
    if (asset === undefined && head.path !== ROOT) return null
    if (head.method !== 'get' && head.method !== 'head') {
      return fail('method_not_allowed', { fields: { allowed: 'GET, HEAD' } })
    }
    const page = asset?.page(head) ?? BEGINNING
    return page instanceof Promise ? page.then(ok) : ok(page)
  }
}

/** The build creates a file for each guide; the files present are the guides served. */
function guides(): readonly [string, Asset][] {
  const folder = new URL('guides/', DOCS_FILES)
  return readdirSync(folder).flatMap((file) => {
    const page = Asset.ofFile('text/html', new URL(file, folder), ['content-security-policy', GUIDE_POLICY])
    const name = file.slice(0, -'.html'.length)
    return name === 'index'
      ? [
          [GUIDES_PATH, page],
          [`${GUIDES_PATH}/`, page],
        ]
      : [[`${GUIDES_PATH}/${name}`, page]]
  })
}
