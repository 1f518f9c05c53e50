// node htbench.mjs governed|raw port
import { createHash } from 'node:crypto'
import { startHttp } from './dist/src/server/http/front.js'
import { createAccess } from './dist/src/server/access/access.js'
import { createAdmission } from './dist/src/server/limits/admission.js'
import { openPools } from './dist/src/workers/pool.js'
import Type from 'typebox'
import uWS from 'uWebSockets.js'
const [mode, port, bytes = '957'] = process.argv.slice(2)
const ANSWER = Buffer.from(JSON.stringify({ data: 'x'.repeat(Number(bytes)) }))
const KEY = `sk-sluice-v1-${'i'.repeat(43)}`
if (mode === 'raw') {
  uWS._cfg('silent')
  const app = uWS.App()
  app.any('/*', (res, req) => {
    let gone = false
    res.onAborted(() => { gone = true })
    res.onData((chunk, last) => {
      const v = JSON.parse(Buffer.from(chunk).toString())
      setImmediate(() => { if (!gone) res.cork(() => { res.writeStatus('200 OK'); res.writeHeader('content-type', 'application/json'); res.end(ANSWER) }) })
    })
  })
  app.listen('127.0.0.1', Number(port), () => console.log('up'))
} else {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 16 })
  const hash = createHash('sha256').update(KEY).digest('hex')
  const record = { hash, kind: 'inference', name: 't', organizationId: 'o', workspaceId: 'w', defaultWorkspaceId: 'w', internId: null, rateLimitRpm: null, isDisabled: false, expiresAtMs: null }
  let n = 0
  await startHttp({ host: '127.0.0.1', port: Number(port), tls: null, corsOrigins: [], jobs: pools.jobs, ports: {},
    observer: { log: console, settled() { n++ }, trace() {} },
    access: createAccess({ keys: { load: async (h) => ({ ok: true, value: h === hash ? record : null }) }, feed: { epoch: 1, get lastGoodPollAtMs() { return Date.now() }, subscribe: () => () => {} }, graceMs: 60000, now: Date.now }),
    admission: createAdmission({ authority: {}, fronts: { liveFronts: 1 }, now: () => performance.now() }),
    operations: [{ id: 'embeddings.create', method: 'post', path: '/embeddings', tag: 't', summary: 's', access: { keys: ['inference'] }, deadlineMs: 60000, outlivesClient: true, input: { body: 'embeddings', headers: ['x-session-id'] }, success: { status: 200, body: Type.Object({}) }, statuses: [400, 429, 500], failures: [], example: {},
      run: (call) => new Promise((resolve) => setImmediate(() => resolve({ ok: true, value: { kind: 'bytes', parts: [ANSWER], contentType: 'application/json' } }))) }],
  })
  console.log('up')
}
process.on('SIGTERM', () => process.exit(0))
