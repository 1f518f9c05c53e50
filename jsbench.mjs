import { createHash } from 'node:crypto'
import { createAccess } from './dist/src/server/access/access.js'
import { createAdmission } from './dist/src/server/limits/admission.js'
import { runTask } from './dist/src/workers/tasks.js'
import { ServedCall } from './dist/src/server/http/pipeline.js'
import { Head } from './dist/src/server/http/head.js'
import { buildRouteTable } from './dist/src/server/http/route-table.js'
import { Timers } from './dist/src/server/http/timers.js'
import { BodyBudget } from './dist/src/server/http/body.js'
import { Cors } from './dist/src/server/http/cors.js'
import { RequestIds } from './dist/src/server/http/request-ids.js'
import Type from 'typebox'
const ANSWER = Buffer.from(JSON.stringify({ data: 'x'.repeat(957) }))
const KEY = `sk-sluice-v1-${'i'.repeat(43)}`
const hash = createHash('sha256').update(KEY).digest('hex')
const record = { hash, kind: 'inference', name: 't', organizationId: 'o', workspaceId: 'w', defaultWorkspaceId: 'w', internId: null, rateLimitRpm: null, isDisabled: false, expiresAtMs: null }
const ids = new RequestIds()
const parts = {
  observer: { log: console, settled() { }, trace() {} }, ports: {},
  access: createAccess({ keys: { load: async (h) => ({ ok: true, value: h === hash ? record : null }) }, feed: { epoch: 1, get lastGoodPollAtMs() { return Date.now() }, subscribe: () => () => {} }, graceMs: 60000, now: Date.now }),
  admission: createAdmission({ authority: {}, fronts: { liveFronts: 1 }, now: () => performance.now() }),
  jobs: { here: runTask }, table: buildRouteTable([{ id: 'embeddings.create', method: 'post', path: '/embeddings', tag: 't', summary: 's', access: { keys: ['inference'] }, deadlineMs: 60000, outlivesClient: true, input: { body: 'embeddings', headers: ['x-session-id'] }, success: { status: 200, body: Type.Object({}) }, statuses: [400, 429, 500], failures: [], example: {},
      run: () => ({ ok: true, value: { kind: 'bytes', parts: [ANSWER], contentType: 'application/json' } }) }]),
  host: { timers: new Timers(), budget: new BodyBudget(1e9), open: new Set(), isClosing: false }, cors: new Cors([]), site: null, nextRequestId: () => ids.next(),
}
await parts.access.authenticate(`Bearer ${KEY}`)
const body = Buffer.from('{"model":"openai/text-embedding-3-small","input":"The quick brown fox jumps over the lazy dog","encoding_format":"float","user":"u-1"}')
const ab = body.buffer.slice(body.byteOffset, body.byteOffset + body.length)
const headers = [['host', '127.0.0.1:1234'], ['content-type', 'application/json'], ['authorization', `Bearer ${KEY}`], ['content-length', String(body.length)], ['accept', '*/*'], ['user-agent', 'x']]
const req = { getMethod: () => 'post', getUrl: () => '/api/v1/embeddings', getQuery: () => undefined, forEach(f) { for (const [k, v] of headers) f(k, v) } }
let onData
const res = { writeStatus() {}, writeHeader() {}, end() {}, endWithoutBody() {}, tryEnd: () => [true, true], getWriteOffset: () => 0, onWritable() {}, onAborted() {}, onData(f) { onData = f }, pause() {}, resume() {}, cork(f) { f() }, close() {} }
const one = () => { new ServedCall(parts, res, new Head(req)).start(); onData(ab, true) }
for (let i = 0; i < 2e5; i++) one()
const N = 5e5; const s = process.cpuUsage(); for (let i = 0; i < N; i++) one(); const e = process.cpuUsage(s)
console.log('js us per request', (e.user + e.system) / N)
process.exit(0)
