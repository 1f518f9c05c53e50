/**
 * Large lists for callers that take gzip: compressed on a thread, and as they are wherever that cannot be.
 */
import { once } from 'node:events'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import Type from 'typebox'
import t, { type Test } from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { ShortJobMore, ShortJobs } from '../../../../src/server/ports/short-jobs.ts'
import { AUTHORIZATION, openFront, operation, threads } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import {
  COMPRESS_WAIT_MS_MAX,
  COMPRESSED_BYTES_MAX,
  COMPRESSED_BYTES_MIN,
} from '../../../../src/server/http/reply/compressed-reply.ts'

const success = { status: 200, body: Type.Object({}), isList: true } as const
const listOf = (chars: number) => ({ data: [{ name: 'n'.repeat(chars) }] })
const json = (value: unknown) => () => ({ ok: true, value: { kind: 'json', value } }) as const
const list = (path: string, chars: number) =>
  operation({ id: `test${path}`, method: 'get', path, input: {}, success, run: json(listOf(chars)) })
const LARGE = 300_000

/** Threads whose first start may take longer than a list waits for them. */
function unhurried(): ShortJobs {
  const whole = threads()
  return {
    here: whole.here.bind(whole),
    run: (name, input, more) => whole.run(name, input, { ...more, endsAt: Infinity }),
  }
}

const open = (t: Test, jobs: ShortJobs = unhurried()) =>
  openFront(
    t,
    [
      list('/large', LARGE),
      list('/small', COMPRESSED_BYTES_MIN - 100),
      list('/huge', COMPRESSED_BYTES_MAX),
      operation({ id: 'test.one', method: 'get', path: '/one', input: {}, run: json(listOf(LARGE)) }),
      operation({
        id: 'test.parts',
        method: 'get',
        path: '/parts',
        input: {},
        success,
        run: () => ({ ok: true, value: { kind: 'bytes', parts: PARTS, contentType: 'application/json' } }),
      }),
    ],
    { jobs },
  )
const PARTS = [Buffer.from('{"data":["'), Buffer.alloc(LARGE, 'p'), Buffer.from('"]}')]

interface Got {
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Without the coding that `fetch` asks for by itself. */
async function get(url: string, acceptEncoding: string | null, method = 'GET'): Promise<Got> {
  const headers = {
    authorization: AUTHORIZATION,
    ...(acceptEncoding !== null && { 'accept-encoding': acceptEncoding }),
  }
  const sent = request(url, { method, headers, agent: false }).end()
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of reply) chunks.push(chunk as Buffer)
  return { headers: reply.headers, bytes: Buffer.concat(chunks) }
}

t.test('a large list is sent in gzip to a client that accepts it, and is complete', async (t) => {
  const { url } = await open(t)
  for (const coding of ['gzip', 'br;q=1, gzip;q=0.5', 'GZIP']) {
    const { headers, bytes } = await get(`${url}/api/v1/large`, coding)
    t.match(headers, {
      'content-encoding': 'gzip',
      vary: /accept-encoding/,
      'content-type': 'application/json',
      'content-length': String(bytes.length),
    })
    t.ok(bytes.length < LARGE / 10)
    t.same(JSON.parse(String(gunzipSync(bytes))), listOf(LARGE))
  }
})

t.test('a list is sent uncompressed, with Vary, to a client that does not accept gzip', async (t) => {
  const { url } = await open(t)
  for (const coding of [null, '', 'identity', 'br', 'gzip;q=0', 'gzip;q=0.00, br', 'x-gzip']) {
    const { headers, bytes } = await get(`${url}/api/v1/large`, coding)
    t.match(headers, { vary: /accept-encoding/, 'content-encoding': undefined }, String(coding))
    t.same(JSON.parse(String(bytes)), listOf(LARGE))
  }
})

t.test('small lists, lists too large to copy, and other answers are sent uncompressed', async (t) => {
  const { url } = await open(t)
  for (const path of ['small', 'huge', 'one']) {
    const { headers, bytes } = await get(`${url}/api/v1/${path}`, 'gzip')
    t.same([headers['content-encoding'], headers['content-length']], [undefined, String(bytes.length)], path)
  }
  t.equal((await get(`${url}/api/v1/one`, 'gzip')).headers.vary, undefined)
})

t.test('HEAD returns the headers of GET', async (t) => {
  const { url } = await open(t)
  const [whole, head] = [
    await get(`${url}/api/v1/large`, 'gzip'),
    await get(`${url}/api/v1/large`, 'gzip', 'HEAD'),
  ]
  t.equal(head.bytes.length, 0)
  for (const name of ['content-encoding', 'content-length', 'vary', 'content-type'])
    t.equal(head.headers[name], whole.headers[name], name)
})

t.test('parts that belong to the catalogue are copied, and stay intact for the next caller', async (t) => {
  const { url } = await open(t)
  for (let nth = 0; nth < 2; nth++)
    t.equal(
      String(gunzipSync((await get(`${url}/api/v1/parts`, 'gzip')).bytes)),
      String(Buffer.concat(PARTS)),
    )
})

/** Threads of which `compress` is answered by the test. */
function jobsWith(compress: (more: ShortJobMore) => ReturnType<ShortJobs['run']>): ShortJobs {
  const whole = threads()
  return {
    here: whole.here.bind(whole),
    run: (name, input, more) => (name === 'compress' ? compress(more) : whole.run(name, input, more)),
  }
}

t.test('when no thread is free, sends lists uncompressed after a short wait, in turns', async (t) => {
  const asked: ShortJobMore[] = []
  const { url } = await open(
    t,
    jobsWith(async (more) => {
      asked.push(more)
      return fail('busy', { retryAfterS: 1 })
    }),
  )
  const { headers, bytes } = await get(`${url}/api/v1/large`, 'gzip')
  t.same([headers['content-encoding'], JSON.parse(String(bytes))], [undefined, listOf(LARGE)])
  t.match(asked, [{ caller: { organizationId: 'o', workspaceId: 'w' } }])
  t.ok((asked[0]?.endsAt ?? Infinity) <= performance.now() + COMPRESS_WAIT_MS_MAX)
})

t.test('a client that disconnects meanwhile ends the compression, and its call settles', async (t) => {
  let [begun, ended] = [() => {}, () => {}]
  const [hasBegun, hasEnded] = [
    new Promise<void>((resolve) => {
      begun = resolve
    }),
    new Promise<void>((resolve) => {
      ended = resolve
    }),
  ]
  const { port, url, settled, untilSettled } = await open(
    t,
    jobsWith(
      ({ signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            resolve(fail('client_gone'))
            ended()
          })
          begun()
        }),
    ),
  )
  const client = rawClient(port)
  client.send(requestText('GET /api/v1/large', { authorization: AUTHORIZATION, 'accept-encoding': 'gzip' }))
  await hasBegun
  client.destroy()
  await Promise.all([hasEnded, untilSettled(1)])
  t.match(settled, [{ isClientGone: true, failure: 'client_gone' }])
  t.equal(
    (await get(`${url}/api/v1/small`, 'gzip')).headers['content-encoding'],
    undefined,
    'and the front goes on',
  )
})

t.test('every list of the API may be compressed, and no answer with an ETag', async (t) => {
  const lists = OPERATIONS.filter(({ success: { isList } }) => isList === true)
  t.same(
    lists.filter(
      ({ method, success: { isConditional, headers } }) =>
        method !== 'get' || isConditional === true || headers?.['etag'] !== undefined,
    ),
    [],
  )
  const named = OPERATIONS.filter(({ id, method }) => method === 'get' && /(?:^|[._])list(?:_|$)/.test(id))
  t.ok(named.length > 15)
  t.same(
    named.filter(({ success: { isList } }) => isList !== true).map(({ id }) => id),
    [],
  )
})
