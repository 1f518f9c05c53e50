import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { AUTHORIZATION, openFront, operation } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import { USER_PAGES } from '../../../support/pages.ts'
import { until } from '../../../support/wait.ts'
import { ROOT } from '../../../support/source.ts'
import { blocksOf } from '../../../readme/blocks.ts'

const open = (test: Test, corsOrigins: string[] = []) =>
  openFront(test, [operation(), ...OPERATIONS], { corsOrigins })
const ORIGIN = 'https://app.example'

t.test('the pages at the root need no key', async (t) => {
  const { url } = await open(t)
  t.same(await (await fetch(`${url}/healthz`)).json(), { status: 'ok' })
  const types: [string, string][] = [
    ['/docs', 'text/html'],
    ['/docs/', 'text/html'],
    ['/docs/reference/keys', 'text/html'],
    ['/docs/reference.js', 'text/javascript'],
    ['/docs/guides', 'text/html'],
    ['/docs/guides/', 'text/html'],
    ['/docs/guides.css', 'text/css'],
    ['/docs/guides.js', 'text/javascript'],
    ['/docs/guides-index.js', 'text/javascript'],
    ['/openapi.json', 'application/json'],
  ]
  for (const [path, type] of types) {
    const answer = await fetch(`${url}${path}`)
    t.equal(answer.status, 200, path)
    t.equal(answer.headers.get('content-type'), `${type}; charset=utf-8`)
    t.match(answer.headers.get('x-request-id'), /./)
    t.ok((await answer.text()).length > 0)
  }
})

t.test('the root redirects to the reference, and its body lists the other addresses', async (t) => {
  const { url } = await open(t)
  const answer = await fetch(url, { redirect: 'manual' })
  t.same([answer.status, answer.headers.get('location')], [302, '/docs'])
  t.match(await answer.json(), {
    api: '/api/v1',
    docs: '/docs',
    openapi: '/openapi.json',
    health: '/healthz',
  })
  t.match(await (await fetch(url)).text(), '<title>')
  t.same((await fetch(url, { method: 'POST' })).status, 405)
  const head = await fetch(url, { method: 'HEAD', redirect: 'manual' })
  t.same([head.status, await head.text()], [302, ''])
})

t.test('the pages of the reference load nothing from other hosts, and call this node only', async (t) => {
  const { url } = await open(t)
  for (const path of ['/docs', '/docs/reference/keys']) {
    const page = await fetch(`${url}${path}`)
    t.equal(
      page.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    const text = await page.text()
    t.notMatch(
      text,
      /<script(?! type="module"(?: blocking="render")? src="\/docs\/\w+\.js">)|<style| style=| on\w+="/,
    )
    for (const [, loaded = ''] of text.matchAll(/(?:src|href)="(\/[^"#]*)"/g))
      t.equal((await fetch(`${url}${loaded}`)).status, 200, loaded)
  }
})

t.test('pages show the address of their installation, escaped as text', async (t) => {
  const origin = 'https://sluice.example"><script>'
  const { url } = await openFront(t, OPERATIONS, { ports: { publicOrigin: origin } as Ports })
  for (const path of ['/docs', '/docs/reference/keys', '/docs/guides/money']) {
    const text = await (await fetch(`${url}${path}`)).text()
    t.match(text, 'https://sluice.example&quot;&gt;&lt;script&gt;/api/v1', path)
    t.notMatch(text, /127\.0\.0\.1:8080|example"></, path)
  }
})

t.test(
  'every link between guides, the reference and its groups points to an existing page and heading',
  async (t) => {
    const { url } = await open(t)
    const pages = await guidesOf(url)
    const { tags } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      readonly tags: readonly { readonly externalDocs?: { readonly url: string } }[]
    }
    const links = [...pages.values()].flatMap((page) =>
      [...page.text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => new URL(href, page.at).href),
    )
    const wanted = [
      ...links,
      ...tags.flatMap(({ externalDocs }) => (externalDocs === undefined ? [] : [url + externalDocs.url])),
    ]
    const isDead = (link: string): boolean => {
      const [address = '', id] = link.split('#')
      return (
        link.startsWith(`${url}/docs/guides/`) &&
        !pages.get(address)?.text.includes(id === undefined ? '<h1 ' : ` id="${id}"`)
      )
    }
    t.ok(tags.filter(({ externalDocs }) => externalDocs !== undefined).length > 15)
    t.same([...new Set(wanted.filter(isDead))], [])
    t.same(
      [...new Set(links.map((link) => link.replace(/#.*|(?<=^data:).*/, '')))]
        .filter((link) => !link.startsWith(`${url}/docs/guides/`))
        .sort(),
      [
        'data:',
        `${url}/docs`,
        `${url}/docs/errors`,
        `${url}/docs/guides.css`,
        'https://www.standardwebhooks.com/',
      ].sort(),
    )
  },
)

t.test(
  'the guides contain every heading and block of the pages unchanged, and may call no address',
  async (t) => {
    const { url } = await open(t)
    const pages = [...(await guidesOf(url)).values()]
    const all = (pattern: RegExp): readonly string[] =>
      pages.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, part = '']) => plain(part)))
    const shown = all(/<pre [^>]*><code>([^]*?)\n<\/code><\/pre>/g)
    t.same(
      [...shown].sort(),
      USER_PAGES.flatMap(({ text }) => blocksOf(text))
        .map(({ text }) => text)
        .sort(),
    )
    const titles = new Set(all(/<h\d id="[^"]*">(.*?)(?: <a class="anchor"[^]*?)?<\/h\d>/g))
    const headings = USER_PAGES.flatMap(({ text }) =>
      [...text.matchAll(/^#{1,3} ([A-Z].*)$/gm)].map(([, title = '']) => title.replaceAll('`', '')),
    )
    t.same(
      headings.filter((title) => !titles.has(title)),
      [],
    )
    for (const { text, policy } of pages) {
      t.same(text.match(/<script[^>]*>/g), ['<script type="module" blocking="render" src="/docs/guides.js">'])
      t.notMatch(text, /<style| style=| on\w+="/)
      t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
      t.notMatch(policy, 'connect-src')
    }
  },
)

t.test(
  'does not send a cached page again, and compresses any other page if the browser accepts that',
  async (t) => {
    const { port, url } = await open(t)
    const first = await fetch(`${url}/docs/guides.css`)
    const etag = first.headers.get('etag') ?? ''
    t.match(etag, /^"[\w-]{22}(-br)?"$/)
    t.equal(
      (await fetch(`${url}/docs/guides.css`, { headers: { 'if-none-match': `W/${etag}` } })).status,
      304,
    )
    const client = rawClient(port)
    t.teardown(() => client.destroy())
    client.send(requestText('GET /docs/guides.css', { 'accept-encoding': 'gzip, br' }))
    const length = Number(/content-length: (\d+)/i.exec(await client.until(/content-encoding: br/))?.[1])
    const text = await client.untilBody(length)
    t.equal(brotliDecompressSync(Buffer.from(text.slice(-length), 'latin1')).toString(), await first.text())
  },
)

t.test('each encoding of a page has its own ETag, and a 304 depends on the requested encoding', async (t) => {
  const { port } = await open(t)
  const ask = async (headers: Record<string, string>) => {
    const client = rawClient(port)
    client.send(requestText('HEAD /docs/guides.css', { ...headers, connection: 'close' }))
    const text = await client.closed()
    const [status, etag, length] = [/^HTTP\/1\.1 (\d+)/, /etag: (.*)\r/i, /content-length: (\d+)/i].map(
      (part) => part.exec(text)?.[1] ?? '',
    )
    return { status, etag, length }
  }
  const br = { 'accept-encoding': 'br' }
  const [plain, packed] = [await ask({}), await ask(br)]
  t.equal(packed.etag, plain.etag?.replace(/"$/, '-br"'))
  t.not(packed.length, plain.length)
  t.same(await ask({ ...br, 'if-none-match': packed.etag ?? '' }), { ...packed, status: '304' })
  t.same(await ask({ 'if-none-match': plain.etag ?? '' }), { ...plain, status: '304' })
  t.equal((await ask({ ...br, 'if-none-match': plain.etag ?? '' })).status, '200')
})

t.test('a front reports only by its status whether it accepts calls', async (t) => {
  const { url, front } = await open(t)
  const ready = await fetch(`${url}/readyz`)
  t.same([ready.status, await ready.json()], [200, { status: 'ready' }])
  const kept = rawClient(Number(new URL(url).port))
  await until(() => front.connections.open === 2)
  front.stopAccepting()
  kept.send(requestText('GET /readyz'))
  t.match(await kept.closed(), /^HTTP\/1\.1 503 [^]*"draining"/)
})

t.test('a page accepts only GET and HEAD', async (t) => {
  const { url } = await open(t)
  const wrong = await fetch(`${url}/healthz`, { method: 'POST' })
  t.same([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD'])
  const head = await fetch(`${url}/healthz`, { method: 'HEAD' })
  t.same([head.status, head.headers.get('content-length')], [200, '15'])
})

t.test('without a list of origins, pages of other origins cannot read replies', async (t) => {
  const { url } = await open(t)
  const answer = await fetch(`${url}/healthz`, { headers: { origin: ORIGIN } })
  t.equal(answer.headers.get('access-control-allow-origin'), null)
  const preflight = await fetch(`${url}/api/v1/echo`, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
  })
  t.same([preflight.status, preflight.headers.get('allow')], [405, 'POST'])
})

t.test('a listed origin may call and read, including failures, and other origins may not', async (t) => {
  const { url } = await open(t, [ORIGIN])
  const ask = (origin: string) =>
    fetch(`${url}/api/v1/echo`, { method: 'POST', headers: { origin, authorization: AUTHORIZATION } })
  const allowed = await ask(ORIGIN)
  t.equal(allowed.headers.get('access-control-allow-origin'), ORIGIN)
  t.equal(allowed.headers.get('vary'), 'origin')
  t.match(allowed.headers.get('access-control-expose-headers'), /x-request-id/)
  const other = await ask('https://evil.example')
  t.same([other.headers.get('access-control-allow-origin'), other.headers.get('vary')], [null, 'origin'])
})

t.test('a preflight from a listed origin is answered with the methods of the path', async (t) => {
  const { url } = await open(t, [ORIGIN])
  const preflight = await fetch(`${url}/api/v1/echo`, {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-origin'), ORIGIN)
  t.equal(preflight.headers.get('access-control-allow-methods'), 'POST')
  t.equal(preflight.headers.get('access-control-allow-headers'), 'authorization,content-type')
})

t.test('with * every origin may read replies', async (t) => {
  const { url } = await open(t, ['*'])
  const answer = await fetch(`${url}/healthz`, { headers: { origin: ORIGIN } })
  t.equal(answer.headers.get('access-control-allow-origin'), '*')
})

interface Guide {
  readonly at: string
  readonly text: string
  readonly policy: string | null
}

/** Those that the list of guides names, and the list itself, by their addresses. */
async function guidesOf(url: string): Promise<ReadonlyMap<string, Guide>> {
  const index = await guideAt(`${url}/docs/guides/`)
  const named = new Set(
    [...index.text.matchAll(/href="(\/docs\/guides\/[^"#]+)"/g)].map(([, path = '']) => `${url}${path}`),
  )
  const others = await Promise.all([...named].map(guideAt))
  return new Map([index, ...others].map((guide) => [guide.at, guide]))
}

async function guideAt(at: string): Promise<Guide> {
  const answer = await fetch(at)
  return {
    at,
    text: answer.ok ? await answer.text() : '',
    policy: answer.headers.get('content-security-policy'),
  }
}

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&amp;', '&'],
]

/** What a browser shows of a piece of HTML. */
function plain(html: string): string {
  return ENTITIES.reduce(
    (text, [entity, letter]) => text.replaceAll(entity, letter),
    html.replace(/<[^>]*>/g, ''),
  )
}

t.test('pages of the documentation use the logo of the dashboard as their icon', async (t) => {
  const { url } = await open(t)
  const text = await (await fetch(`${url}/docs/guides`)).text()
  const [, icon = ''] = /<link rel="icon" href="data:image\/svg\+xml,([^"]*)">/.exec(text) ?? []
  t.equal(`${decodeURIComponent(icon)}\n`, readFileSync(`${ROOT}src/server/dashboard/page/mark.svg`, 'utf8'))
})
