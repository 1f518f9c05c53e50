import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { Assets } from '../../../../src/server/supervisor/admin-port/assets.ts'
import { adminStand, publicStand } from '../../../support/operator/admin-port.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const MAP = '{"imports":{"preact":"./vendor/preact.js"}}'
const SCRIPT = 'export const a = 1\n'.repeat(200)
const folder = temporaryFolder(t, 'assets')
mkdirSync(join(folder, 'vendor'))
writeFileSync(
  join(folder, 'index.html'),
  `<!doctype html><script type="importmap">${MAP}</script><script type="module" src="main.js"></script>`,
)
writeFileSync(join(folder, 'main.js'), SCRIPT)
writeFileSync(join(folder, 'main.js.map'), '{}')
writeFileSync(join(folder, 'vendor/preact.js'), 'export {}')
writeFileSync(join(folder, 'style.css'), 'body{}')
writeFileSync(join(folder, 'built.js'), SCRIPT)
writeFileSync(join(folder, 'built.js.br'), brotliCompressSync('// by the build'))

const stand = await adminStand(t, (await publicStand(t, (_, response) => void response.end())).port, {
  assets: new Assets(folder),
})
const NO_KEY = { headers: {} }

for (const [path, type] of Object.entries({
  '': 'text/html; charset=utf-8',
  'index.html': 'text/html; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
  'vendor/preact.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
})) {
  t.test(
    `/dashboard/${path} is served without a key, and its headers restrict the browser to our own resources`,
    async (t) => {
      const { status, headers } = await stand.ask(`/dashboard/${path}`, NO_KEY)
      t.equal(status, 200)
      t.match(headers, {
        'content-type': type,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        etag: /^"[\w-]{22}"$/,
      })
      const policy = String(headers['content-security-policy']).split('; ')
      for (const rule of [
        "default-src 'none'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "style-src 'self'",
      ]) {
        t.ok(policy.includes(rule), rule)
      }
      t.notMatch(headers['content-security-policy'], /unsafe/)
    },
  )
}

t.test('the only script allowed in the page is its import map, by its digest', async (t) => {
  const { headers } = await stand.ask('/dashboard/', NO_KEY)
  const digest = createHash('sha256').update(MAP).digest('base64')
  t.ok(
    String(headers['content-security-policy']).split('; ').includes(`script-src 'self' 'sha256-${digest}'`),
  )
  const script = await stand.ask('/dashboard/main.js', NO_KEY)
  t.ok(String(script.headers['content-security-policy']).split('; ').includes("script-src 'self'"))
})

t.test('sends long files compressed to clients that accept compression, with a separate ETag', async (t) => {
  const packed = await stand.ask('/dashboard/main.js', { headers: { 'accept-encoding': 'gzip, br' } })
  t.equal(packed.headers['content-encoding'], 'br')
  t.equal(brotliDecompressSync(packed.body).toString(), SCRIPT)
  const plain = await stand.ask('/dashboard/main.js', { headers: { 'accept-encoding': 'br;q=0' } })
  t.equal(plain.body.toString(), SCRIPT)
  t.not(plain.headers.etag, packed.headers.etag)
  const known = await stand.ask('/dashboard/main.js', {
    headers: { 'accept-encoding': 'br', 'if-none-match': packed.headers.etag ?? '' },
  })
  t.match(known, { status: 304, body: { length: 0 } })
})

t.test('sends the compressed files of the build unchanged, and not under their own names', async (t) => {
  const packed = await stand.ask('/dashboard/built.js', { headers: { 'accept-encoding': 'br' } })
  t.equal(packed.headers['content-encoding'], 'br')
  t.equal(brotliDecompressSync(packed.body).toString(), '// by the build')
  const plain = await stand.ask('/dashboard/built.js', NO_KEY)
  t.equal(plain.body.toString(), SCRIPT)
  t.match(await stand.ask('/dashboard/built.js.br', NO_KEY), { status: 404, error: 'route_unknown' })
})

t.test('a HEAD gets the headers alone', async (t) => {
  const { status, headers, body } = await stand.ask('/dashboard/main.js', { method: 'HEAD', headers: {} })
  t.match(
    { status, length: headers['content-length'], body: body.length },
    { status: 200, length: String(SCRIPT.length), body: 0 },
  )
})

for (const path of [
  '../assets.js',
  '..%2fassets.js',
  '%2e%2e/assets.js',
  'vendor',
  'vendor/',
  '/etc/passwd',
  'main.js.map',
  'Main.js',
  'vendor/../main.js',
  'main.js%00',
]) {
  t.test(`/dashboard/${path} gets 404`, async (t) => {
    t.match(await stand.ask(`/dashboard/${path}`, NO_KEY), { status: 404, error: 'route_unknown' })
  })
}

for (const path of ['/', '/dashboard']) {
  t.test(`${path} redirects to the dashboard`, async (t) => {
    t.match(await stand.ask(path, NO_KEY), { status: 302, headers: { location: '/dashboard/' } })
  })
}

t.test('the page accepts only GET and HEAD', async (t) => {
  t.match(await stand.ask('/dashboard/', { method: 'POST', headers: {} }), {
    status: 405,
    error: 'method_not_allowed',
    headers: { allow: 'GET, HEAD' },
  })
})

t.test('a foreign host name for this port gets neither the dashboard nor an API answer', async (t) => {
  const headers = { host: 'evil.example' }
  for (const path of ['/', '/dashboard/', '/dashboard/main.js', '/api/v1/models', '/metrics', '/elsewhere']) {
    t.match(await stand.ask(path, { headers }), { status: 403, error: 'admin_host_refused' })
  }
  t.equal((await stand.ask('/metrics')).status, 200)
  t.equal((await stand.ask('/healthz', { headers })).status, 200)
})

t.test('a missing build folder yields no files', async (t) => {
  t.same(new Assets(join(folder, 'none')).names, [])
})
