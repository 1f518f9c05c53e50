import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { runTransfers } from '../../../bench/transfers/load.ts'
import { FORM_HEAD, FORM_TAIL } from '../../../bench/transfers/payload.ts'
import { wholeFile } from '../../support/files/wave-file.ts'
import type { TransferPlan, TransferRequest } from '../../../bench/transfers/plan.ts'

async function serve(t: Test, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const UPLOAD: TransferRequest = {
  method: 'POST',
  path: '/files',
  headers: { 'x-a': 'b' },
  body: 'form',
  status: 200,
}
const DOWNLOAD: TransferRequest = { method: 'GET', path: '/file', headers: {}, body: 'none', status: 200 }

const planOf = (port: number, more: Partial<TransferPlan>): TransferPlan => ({
  port,
  connections: 2,
  request: UPLOAD,
  payloadBytes: 200_000,
  rounds: 3,
  durationMs: 60_000,
  isCutAtEnd: false,
  readBytesPerS: null,
  ...more,
})

t.test('each connection sends whole forms for its rounds and reads the ids from the answers', async (t) => {
  const lengths: number[] = []
  const port = await serve(t, (req, res) => {
    let bytes = 0
    req.on('data', (chunk: Buffer) => (bytes += chunk.length))
    req.on('end', () => {
      res.end(JSON.stringify({ id: `file_${lengths.push(bytes)}` }))
    })
  })
  const result = await runTransfers(planOf(port, {}))
  t.same([...new Set(lengths)], [FORM_HEAD.length + 200_000 + FORM_TAIL.length])
  t.match(result, { transfers: 6, failed: 0, bytes: 1_200_000 })
  t.same([...result.ids].sort(), ['file_1', 'file_2', 'file_3', 'file_4', 'file_5', 'file_6'])
})

t.test('a download counts when all of its bytes have arrived', async (t) => {
  const body = wholeFile(200_000)
  const port = await serve(
    t,
    (_req, res) => void res.writeHead(200, { 'content-length': body.length }).end(body),
  )
  t.match(await runTransfers(planOf(port, { request: DOWNLOAD })), {
    transfers: 6,
    failed: 0,
    bytes: 1_200_000,
  })
})

t.test('unexpected statuses, unexpected lengths and broken connections fail with a reason', async (t) => {
  let nth = 0
  const port = await serve(t, (_req, res) => {
    nth++
    if (nth === 1) res.writeHead(503).end('busy')
    else if (nth === 2) res.writeHead(200, { 'content-length': 3 }).end('abc')
    else res.destroy()
  })
  const result = await runTransfers(planOf(port, { request: DOWNLOAD, connections: 1 }))
  t.match(result, { transfers: 0, failed: 3, bytes: 0 })
  t.match(result.failures, [/^503 [^]*busy/, /^3 bytes instead of 200000/, /./])
})

t.test('readers that are cut at the end count as alive, and read no faster than their rate', async (t) => {
  const body = wholeFile(50_000_000)
  const port = await serve(
    t,
    (_req, res) => void res.writeHead(200, { 'content-length': body.length }).end(body),
  )
  const reading = {
    request: DOWNLOAD,
    payloadBytes: body.length,
    durationMs: 4_000,
    isCutAtEnd: true,
    readBytesPerS: 10_000,
  }
  const result = await runTransfers(planOf(port, reading))
  t.match(result, { transfers: 0, failed: 0, alive: 2 })
  t.ok(result.bytes > 0 && result.bytes <= 2 * 6 * 10_000, `${result.bytes} bytes`)
})

t.test('unlimited rounds continue until the time is over', async (t) => {
  const port = await serve(t, (req, res) => void req.resume().on('end', () => res.end('{}')))
  const result = await runTransfers(planOf(port, { rounds: Infinity, durationMs: 500, payloadBytes: 1_000 }))
  t.equal(result.failed, 0)
  t.ok(result.transfers > 0, `${result.transfers} transfers`)
})
