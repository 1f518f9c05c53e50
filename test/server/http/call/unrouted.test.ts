import t from 'tap'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { SCIM_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import { EQUIVALENTS, nearestPath } from '../../../../src/server/http/call/unrouted.ts'
import { openFront } from '../../../support/front.ts'

t.test('the 404 of an unknown path names the nearest path', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const messageOf = async (path: string) =>
    ((await (await fetch(url + path)).json()) as { error: { message: string } }).error.message
  t.match(
    await messageOf('/api/v1/embedings'),
    /No route matches `\/api\/v1\/embedings`\. Nearest: `\/api\/v1\/embeddings`\./,
  )
  t.match(await messageOf('/v1/embeddings'), /Nearest: `\/api\/v1\/embeddings`/)
  t.match(
    await messageOf('/api/v1/model/acme/embed/endpoint'),
    /Nearest: `\/api\/v1\/models\/\{author\}\/\{slug\}\/endpoints`/,
  )
  t.notMatch(await messageOf('/wp-login.php'), /Nearest/)
})

t.test('404 route_unknown: a LiteLLM path gets the operation that does the same', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const messageOf = async (path: string) =>
    ((await (await fetch(url + path, { method: 'POST' })).json()) as { error: { message: string } }).error
      .message
  for (const [path, near] of [
    ['/api/v1/key/generate', '`POST /api/v1/keys`.'],
    ['/key/generate', '`POST /api/v1/keys`.'],
    ['/v1/key/generate/', '`POST /api/v1/keys`.'],
    ['/api/v1/key/info', '`GET /api/v1/key`, `GET /api/v1/keys/{hash}`.'],
    ['/user/new', '`POST /scim/v2/Users`.'],
    ['/v1/model/info', '`GET /api/v1/models`.'],
  ] as const)
    t.ok((await messageOf(path)).includes(`Nearest: ${near}`), `${path}: ${await messageOf(path)}`)
})

t.test('each listed path of another proxy maps to an existing operation', (t) => {
  const known = OPERATIONS.map(
    ({ method, path, area }) => `${method.toUpperCase()} ${area === 'scim' ? SCIM_PREFIX : ''}${path}`,
  )
  for (const [path, calls] of EQUIVALENTS)
    for (const call of calls) t.ok(known.includes(call), `${path}: ${call}`)
  t.end()
})

t.test('a different word of the same length is not suggested, and doubled slashes count as one', (t) => {
  const paths = OPERATIONS.map(({ path }) => `/api/v1${path}`)
  t.equal(nearestPath('/api/v1/planets', paths), null)
  t.equal(nearestPath('/api/v1//models', paths), '/api/v1/models')
  t.equal(nearestPath('//api//v1/embedings//', paths), '/api/v1/embeddings')
  t.equal(nearestPath('/api/v1/kys', paths), '/api/v1/keys')
  t.equal(nearestPath('/api/v1/abcd', paths), null)
  t.end()
})

t.test('finding the nearest path for a hostile path takes little CPU time', async (t) => {
  const paths = OPERATIONS.map(({ path }) => `/api/v1${path}`)
  const before = process.cpuUsage().user
  for (let nth = 0; nth < 100; nth++)
    nearestPath(`/api/v1/${'embedding'.repeat(2_000)}${'/a'.repeat(2_000)}`, paths)
  t.ok(process.cpuUsage().user - before < 100 * 5_000)
})
