import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { addresses, ports } from '../../../../../src/server/cli/operator/doctor/addresses.ts'
import { CLOCK_SKEW_MS_MAX, clock } from '../../../../../src/server/cli/operator/doctor/clock.ts'
import { readingOf } from '../../../../../src/server/observe/clock-reading.ts'
import {
  type Check,
  CHECK_MS_MAX,
  hardKill,
  runChecks,
} from '../../../../../src/server/cli/operator/doctor/examine.ts'
import { good } from '../../../../../src/server/cli/operator/doctor/finding.ts'
import { STORE_MS_MAX } from '../../../../../src/server/cli/operator/doctor/look.ts'
import { frontEnd, platform } from '../../../../../src/server/cli/operator/doctor/platform.ts'
import { holderOf } from '../../../../../src/server/cli/operator/doctor/port-holder.ts'
import { embedded, postgres } from '../../../../../src/server/cli/operator/doctor/stores.ts'
import { redis } from '../../../../../src/server/cli/operator/doctor/redis.ts'
import { storage } from '../../../../../src/server/cli/operator/doctor/storage.ts'
import { lookFor } from '../../../../support/operator/doctor.ts'
import { openTestDatabase, openTestStore } from '../../../../support/stores/postgres.ts'
import { openScriptedRedis } from '../../../../support/stores/scripted-redis.ts'
import { openTestRedis, REDIS_KINDS } from '../../../../support/stores/redis.ts'
import { openRelay } from '../../../../support/wire/relay.ts'
import { FakeS3, s3Settings } from '../../../../support/files/s3.ts'
import { freePort } from '../../../../support/nodes/spawned.ts'
import { until } from '../../../../support/wait.ts'
import { EmbeddedPostgresError } from '../../../../../src/server/supervisor/postgres/postgres-binaries.ts'

t.setTimeout(600_000)

const HOUR_MS = 3_600_000
/** Milliseconds after which a store that stands still is given up here. */
const SHORT_MS = 300
const LINUX = { os: 'linux', node: '20.20.0', abi: '115', glibc: '2.36' }

t.test('reports an unsupported Node ABI, a glibc too old for it, and a missing glibc', async (t) => {
  t.match(
    platform(() => LINUX),
    { level: 'ok', detail: 'Node 20.20.0, ABI 115, glibc 2.36' },
  )
  const fix = /supported pair/
  const of = (more: Partial<typeof LINUX> | { readonly glibc: null }) =>
    platform(() => ({ ...LINUX, ...more }))
  t.match(of({ node: '21.0.0', abi: '120' }), {
    level: 'problem',
    detail: 'Node 21.0.0 (ABI 120) is not supported: use Node 20, 22, 24 or 25',
    fix,
  })
  t.match(of({ node: '22.1.0', abi: '127' }), {
    level: 'problem',
    detail: /needs glibc 2\.38 or newer, but this system has 2\.36/,
    fix,
  })
  t.match(of({ glibc: null }), { level: 'problem', detail: /musl/, fix })
})

t.test("reports the loader's error for a front end binary that does not load, or is missing", async (t) => {
  const root = t.testdir({})
  const folder = join(root, 'node_modules/uWebSockets.js')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"uWebSockets.js","main":"uws.js"}')
  writeFileSync(join(folder, 'uws.js'), "module.exports = require('./uws.node')")
  writeFileSync(join(folder, 'uws.node'), 'of another machine')
  const fix = /reinstall Sluice with this Node.js version/
  t.match(await frontEnd({ root }), {
    check: 'front_end',
    level: 'problem',
    detail: /^Error: .*uws\.node: /,
    fix,
  })
  writeFileSync(join(folder, 'uws.js'), "process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000)")
  t.match(await frontEnd({ root }), {
    level: 'problem',
    detail: 'the process exited while loading the binary (SIGSEGV)',
    fix,
  })
  t.match(await frontEnd({ root: '/' }), {
    level: 'problem',
    detail: /Cannot find package 'uWebSockets\.js'/,
    fix,
  })
  t.match(await frontEnd(), { level: 'ok' })
})

t.test(
  'names the program that listens on a port, with its pid',
  { skip: process.platform !== 'linux' && 'only Linux tells it' },
  async (t) => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    t.match(await holderOf(port, HOUR_MS), new RegExp(`^\\S+ \\(pid ${process.pid}\\)$`))
    t.equal(await holderOf(port, -1), null)
    const look = lookFor(
      { SLUICE_PORT: String(port), SLUICE_ADMIN_PORT: String(await freePort()) },
      { holderMsMax: HOUR_MS },
    )
    t.match(await ports(look), [
      { level: 'problem', detail: /another program uses the port.*\(in use by \S+ \(pid \d+\)\)$/ },
      { level: 'ok', detail: /is free$/ },
    ])
  },
)

t.test(
  'warns about a machine without setpriv',
  { skip: process.platform !== 'linux' && 'only Linux needs it' },
  async (t) => {
    t.match(
      hardKill(() => null),
      { check: 'hard_kill', level: 'warning', fix: /setpriv/ },
    )
  },
)

t.test('reports an admin port reachable from the internet, but not in a private network', async (t) => {
  const admin = (adminHost: string, own: readonly string[]) => {
    const [, finding] = addresses(
      { host: '127.0.0.1', adminHost, tls: null, publicOrigin: 'http://127.0.0.1:8080' },
      own,
    )
    return finding
  }
  t.match(admin('0.0.0.0', ['127.0.0.1', '10.1.2.3']), { check: 'admin_address', level: 'ok' })
  t.match(admin('::', ['10.1.2.3', '8.8.8.8']), {
    level: 'warning',
    detail: /anyone who can reach 8\.8\.8\.8/,
    fix: /SLUICE_ADMIN_HOST/,
  })
  t.match(admin('8.8.4.4', []), { level: 'warning' })
  t.match(admin('127.0.0.1', ['8.8.8.8']), { level: 'ok' })
})

t.test('reports that a proxy holds the certificate when the public origin is https', async (t) => {
  const open = { host: '0.0.0.0', adminHost: '127.0.0.1', tls: null }
  t.match(addresses({ ...open, publicOrigin: 'https://sluice.example' }, [])[0], {
    check: 'tls',
    level: 'ok',
    detail: /SLUICE_PUBLIC_URL/,
  })
  t.match(addresses({ ...open, publicOrigin: 'http://sluice.example' }, [])[0], { level: 'warning' })
})

t.test('reports a clock difference only when it exceeds the uncertainty of the measurement', async (t) => {
  const asked = { beganMs: 1_000_000, endedMs: 1_000_100 }
  t.same(readingOf(1_000_050, asked), { offsetMs: 0, uncertaintyMs: 50 })
  t.same(readingOf(1_000_000, asked, 1_000), { offsetMs: 450, uncertaintyMs: 550 })
  t.match(clock('Postgres', { offsetMs: CLOCK_SKEW_MS_MAX + 50, uncertaintyMs: 50 }), { level: 'ok' })
  t.match(clock('Postgres', { offsetMs: CLOCK_SKEW_MS_MAX + 51, uncertaintyMs: 50 }), {
    level: 'warning',
    detail: "the clock of Postgres is 2.1 s ahead of the node's",
  })
})

t.test('reports a clock of Postgres or of the object store that differs from that of the node', async (t) => {
  const { url } = await openTestDatabase(t)
  const s3 = await FakeS3.start(t)
  const clocksAt = async (now: () => number) => {
    const [found, seen] = await Promise.all([
      postgres(lookFor({ DATABASE_URL: url }, { now })),
      storage(
        lookFor({ SLUICE_DATA: t.testdirName, ...s3Settings(s3) }, { now }),
        new AbortController().signal,
      ),
    ])
    return [...found, ...seen].filter(({ check }) => check === 'clock')
  }
  t.match(await clocksAt(Date.now), [
    { level: 'ok', detail: /the clock of Postgres is within/ },
    { level: 'ok', detail: /the clock of the object store is within/ },
  ])
  const fix = /time servers/
  t.match(await clocksAt(() => Date.now() + HOUR_MS), [
    { level: 'warning', detail: /^the clock of Postgres is 3(59|60)\d\.\d s behind the node's$/, fix },
    {
      level: 'warning',
      detail: /^the clock of the object store is 3(59|60)\d\.\d s behind the node's$/,
      fix,
    },
  ])
  t.match(await clocksAt(() => Date.now() - HOUR_MS), [
    { detail: /ahead of the node's/, fix },
    { detail: /ahead of the node's/, fix },
  ])
})

t.test('reports a missing embedded Postgres for the platform without DATABASE_URL', async (t) => {
  const look = lookFor({ SLUICE_DATA: join(t.testdirName, 'data') })
  t.match(embedded(look), { level: 'ok', detail: 'embedded; the node is not running' })
  const none = (): never => {
    throw new EmbeddedPostgresError('there is no embedded Postgres for plan9-x64')
  }
  t.match(embedded(look, none), { check: 'postgres', level: 'problem', detail: /plan9/, fix: /DATABASE_URL/ })
})

t.test('gives up on a Postgres that accepts connections and answers nothing', async (t) => {
  const { url } = await openTestDatabase(t)
  const at = new URL(url)
  const relay = await openRelay(t, { host: at.hostname, port: Number(at.port) })
  at.port = String(relay.port)
  const look = lookFor({ DATABASE_URL: at.href }, { storeMsMax: SHORT_MS })
  t.ok(STORE_MS_MAX < CHECK_MS_MAX, 'the limit of the check itself is never met')
  const [first] = await postgres(lookFor({ DATABASE_URL: at.href }))
  t.match(first, {
    check: 'postgres',
    level: 'ok',
    detail: /^external, version \d+\.\d+, answers in [\d.]+ ms$/,
  })
  relay.freeze()
  t.match(await postgres(look), [
    { level: 'problem', detail: 'The store did not answer in time.', fix: /DATABASE_URL/ },
  ])
})

t.test('reports a table that is locked, and does not call Postgres unreachable', async (t) => {
  const store = await openTestStore(t)
  const look = lookFor({ DATABASE_URL: store.options.url }, { storeMsMax: 2 * STORE_MS_MAX })
  const found = await store.sql.begin(async (tx) => {
    await tx`LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE`
    return postgres(look)
  })
  t.match(
    found.map(({ check }) => check),
    ['postgres', 'clock', 'migrations', 'postgres'],
  )
  t.match(found[3], {
    level: 'warning',
    detail: /the tables could not be read: /,
    fix: /pg_stat_activity/,
  })
})

for (const kind of REDIS_KINDS) {
  t.test(`reports a Redis that is stopped or hangs (${kind})`, async (t) => {
    const server = await openTestRedis(t, kind)
    const runtime = { databaseUrl: '', redis: { socketPath: server.socketPath }, url: '', adminUrl: '' }
    const look = lookFor({}, { runtime, storeMsMax: SHORT_MS })
    let fine = await redis(lookFor({}, { runtime }))
    // A Redis that was late with one answer counts as away.
    await until('it answers in time', async () => {
      if (fine.level !== 'ok') fine = await redis(lookFor({}, { runtime }))
      return fine.level === 'ok'
    })
    t.match(fine, { check: 'redis', detail: /^embedded, version \S+, answers in [\d.]+ ms$/ })
    server.freeze()
    t.match(await redis(look), {
      level: 'warning',
      detail: /^Redis does not answer: /,
      fix: 'check the log of the node',
    })
    server.thaw()
    await server.kill()
    // Tested is the report, not how long it takes.
    t.match(await redis(lookFor({}, { runtime })), {
      level: 'warning',
      detail: /ENOENT|ECONNREFUSED/,
      fix: 'check the log of the node',
    })
  })
}

t.test('reports the Redis that refuses the login, not the Sentinel that cannot be reached', async (t) => {
  const primary = await openScriptedRedis(t)
  primary.refuseLogins('WRONGPASS invalid username-password pair or user is disabled.')
  const sentinel = await openScriptedRedis(t, { primaryPort: () => Number(new URL(primary.url).port) })
  const url = `redis+sentinel://user:secret@127.0.0.1:1,${new URL(sentinel.url).host}/main`
  t.match(await redis(lookFor({ REDIS_URL: url })), { level: 'warning', detail: /^WRONGPASS/ })
})

t.test('a check that hangs or fails becomes a finding, and the other checks still run', async (t) => {
  let isReported = false
  const checks: readonly Check<null>[] = [
    {
      name: 'hangs',
      stuck: 'end it',
      look: (_, signal) => {
        signal.addEventListener('abort', () => (isReported = true))
        return new Promise(() => undefined)
      },
    },
    { name: 'fails', stuck: 'mend it', look: () => Promise.reject(new Error('no\nsecond line')) },
    {
      name: 'throws',
      stuck: 'mend that',
      look: () => {
        throw new Error('never')
      },
    },
    { name: 'well', stuck: '', look: () => [good('well', 'it is')] },
  ]
  t.same(await runChecks(checks, null, 20), [
    { check: 'hangs', level: 'problem', detail: 'the check did not finish within 0.02 s', fix: 'end it' },
    { check: 'fails', level: 'problem', detail: 'the check failed: no', fix: 'mend it' },
    { check: 'throws', level: 'problem', detail: 'the check failed: never', fix: 'mend that' },
    { check: 'well', level: 'ok', detail: 'it is' },
  ])
  t.ok(isReported)
})
