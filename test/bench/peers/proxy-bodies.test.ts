import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../../src/schemas/embeddings/embedding-limits.ts'
import { startProxy } from '../../../bench/peers/proxies.ts'
import { startMock } from '../../support/embeddings/mock.ts'
import { STAND_MODEL, type Stand } from '../../support/nodes/stand.ts'
import { ROOT } from '../../support/source.ts'
import { newApiKey } from '../../../src/schemas/keys/api-keys.ts'
import type { Target } from '../../../bench/target.ts'

const key = newApiKey('inference').key
const HEAD = `POST /api/v1/embeddings HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
const BODY = JSON.stringify({ model: STAND_MODEL, input: 'a' })

/** What of a stand a proxy needs. */
async function standIn(mockPort?: number): Promise<Stand> {
  const mock = await startMock({ dimensions: 4, latencyMs: 0 })
  t.teardown(() => mock.stop())
  const request = {
    method: 'POST',
    path: '/api/v1/embeddings',
    headers: { authorization: `Bearer ${key}` },
    body: BODY,
  }
  const part = {
    mock: { ...mock, port: mockPort ?? mock.port },
    keys: { inference_key: key, management_key: newApiKey('management').key },
    embeddings: () => request,
  }
  return part as unknown as Stand
}

/** Writes the pieces and reads until the other side ends, or a whole answer is there. */
async function raw(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (data: string) => {
    text += data
    if (/\r\n\r\n.*\}$/s.test(text)) socket.destroy()
  })
  socket.on('error', () => undefined)
  for (const piece of pieces) socket.write(piece, 'latin1')
  await once(socket, 'close')
  return text
}

async function proxies(t: Test, stand: Stand): Promise<readonly Target[]> {
  const all = await Promise.all(
    (['node', 'fastify'] as const).map((kind) => startProxy(kind, stand, { root: ROOT })),
  )
  const found = all.flatMap((one) => ('absent' in one ? [] : [one]))
  t.teardown(() => Promise.all(found.map((one) => one.stop())))
  return found
}

t.test('refuses a body whose announced length is too large before it is sent', async (t) => {
  for (const { name, port } of await proxies(t, await standIn())) {
    const text = await raw(port, [`${HEAD}content-length: ${EMBEDDINGS_BODY_BYTES_MAX + 1}\r\n\r\n`])
    t.match(text, /^HTTP\/1\.1 413 /, name)
    t.match(text, /"error_type":"body_too_large"/, name)
  }
})

t.test('refuses a body of unknown length as soon as it becomes too large', async (t) => {
  const piece = `100000\r\n${'a'.repeat(0x100000)}\r\n`
  for (const { name, port } of await proxies(t, await standIn())) {
    const text = await raw(port, [
      `${HEAD}transfer-encoding: chunked\r\n\r\n`,
      ...Array<string>(33).fill(piece),
    ])
    t.match(text, /^HTTP\/1\.1 413 /, name)
  }
})

t.test('a body in several chunks arrives as one body', async (t) => {
  for (const { name, port } of await proxies(t, await standIn())) {
    const text = await raw(port, [
      `${HEAD}content-length: ${BODY.length}\r\n\r\n`,
      BODY.slice(0, 9),
      BODY.slice(9),
    ])
    t.match(text, /^HTTP\/1\.1 200 /, name)
  }
})

t.test('a client that disconnects while it sends a body ends no other call', async (t) => {
  for (const { name, port } of await proxies(t, await standIn())) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`${HEAD}content-length: 1000\r\n\r\nhalf`)
    socket.resetAndDestroy()
    t.match(
      await raw(port, [`${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`]),
      /^HTTP\/1\.1 200 /,
      name,
    )
  }
})

t.test('a missing provider is reported as a failed provider', async (t) => {
  const NOBODY = 1
  for (const { name, port } of await proxies(t, await standIn(NOBODY))) {
    const text = await raw(port, [`${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`])
    t.match(text, /^HTTP\/1\.1 502 /, name)
    t.match(text, /"error_type":"upstream_failed"/, name)
  }
})

t.test('leaves out a peer that is not installed, and says how to install it', async (t) => {
  t.match(await startProxy('fastify', await standIn(), { root: '/nowhere' }), {
    name: 'fastify',
    absent: /npm ci --ignore-scripts --prefix tools\/peers/,
  })
})
