import { fork } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Log } from '../../../../src/server/ports/observe.ts'
import { startRedis } from '../../../../src/server/supervisor/redis/redis-child.ts'
import { findServer } from '../../../../src/server/supervisor/redis/redis-find.ts'
import { keptLog } from '../../../support/log.ts'
import { removeOutside } from '../../../support/nodes/node.ts'
import { REDIS_KINDS } from '../../../support/stores/redis.ts'
import { until } from '../../../support/wait.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

// Servers start here, on a machine that may be busy.
t.setTimeout(600_000)

const NOTHING = { debug() {}, info() {}, warn() {}, error() {} }
const hasReal = REDIS_KINDS.includes('child') ? {} : { skip: 'no redis-server on the PATH' }

for (const kind of REDIS_KINDS) {
  const servers = kind === 'child' ? ['redis-server'] : []

  t.test(`${kind}: answers on a socket in its own folder, and stopping leaves nothing`, async (t) => {
    const dataDir = folder(t)
    const redis = await startRedis({ dataDir, log: NOTHING, servers })
    t.equal(redis.mode, kind)
    t.equal(await say(redis.socketPath, 'SET a 1\r\n'), '+OK\r\n')
    const { pid } = recordOf(dataDir)
    await redis.stop()
    t.notOk(isAlive(pid), 'the process is gone')
    t.notOk(existsSync(dirname(redis.socketPath)), 'the folder of the socket is gone')
  })

  t.test(
    `${kind}: does not inherit our environment`,
    { skip: !existsSync('/proc/self/environ') && 'needs /proc' },
    async (t) => {
      process.env['OPENAI_API_KEY'] = 'sk-of-a-provider'
      t.teardown(() => delete process.env['OPENAI_API_KEY'])
      const dataDir = folder(t)
      const redis = await startRedis({ dataDir, log: NOTHING, servers })
      t.teardown(() => redis.stop())
      t.notMatch(readFileSync(`/proc/${recordOf(dataDir).pid}/environ`, 'utf8'), /sk-of-a-provider/)
    },
  )

  t.test(`${kind}: a server that dies is started again on the same socket`, async (t) => {
    const dataDir = folder(t)
    const redis = await startRedis({ dataDir, log: NOTHING, servers })
    t.teardown(() => redis.stop())
    const { pid } = recordOf(dataDir)
    process.kill(pid, 'SIGKILL')
    await until(() => recordOf(dataDir).pid !== pid)
    t.equal(await say(redis.socketPath, 'PING\r\n'), '+PONG\r\n')
  })

  t.test(
    `${kind}: a record that cannot be written is a warning, and no second server is started`,
    async (t) => {
      const [dataDir, log] = [folder(t), keptLog()]
      const redis = await startRedis({ dataDir, log, servers })
      t.teardown(() => redis.stop())
      const { pid } = recordOf(dataDir)
      rmSync(join(dataDir, 'redis/server.json'))
      mkdirSync(join(dataDir, 'redis/server.json/taken'), { recursive: true })
      process.kill(pid, 'SIGKILL')
      await until(() =>
        log.events.some(({ event }) => event === 'redis_restarted' || event === 'redis_start_failed'),
      )
      t.match(log.events.map(({ event }) => event).join(), /redis_not_recorded,redis_restarted$/)
      t.equal(await say(redis.socketPath, 'PING\r\n'), '+PONG\r\n')
      rmSync(join(dataDir, 'redis/server.json'), { recursive: true })
    },
  )

  t.test(`${kind}: it ends when its supervisor is killed`, async (t) => {
    const dataDir = folder(t)
    const host = fileURLToPath(new URL('../../../support/stores/redis-host.js', import.meta.url))
    const child = fork(host, [dataDir, ...servers])
    t.teardown(() => removeOutside(dataDir))
    t.teardown(() => void child.kill('SIGKILL'))
    await new Promise((resolve) => child.once('message', resolve))
    const { pid } = recordOf(dataDir)
    child.kill('SIGKILL')
    await until(() => !isAlive(pid))
    t.pass('the server is gone')
  })
}

t.test('values survive a killed real server', hasReal, async (t) => {
  const dataDir = folder(t)
  const redis = await startRedis({ dataDir, log: NOTHING, servers: ['redis-server'] })
  t.teardown(() => redis.stop())
  await say(redis.socketPath, 'SET kept yes\r\n')
  const { pid } = recordOf(dataDir)
  process.kill(pid, 'SIGKILL')
  await until(() => recordOf(dataDir).pid !== pid)
  t.equal(await say(redis.socketPath, 'GET kept\r\n'), '$3\r\nyes\r\n')
})

t.test('an append-only file truncated within a command does not prevent the start', hasReal, async (t) => {
  const dataDir = await damagedFolder(t, (bytes) => bytes.subarray(0, bytes.length - 3))
  const redis = await startRedis({ dataDir, log: NOTHING, servers: ['redis-server'] })
  t.teardown(() => redis.stop())
  t.equal(await say(redis.socketPath, 'PING\r\n'), '+PONG\r\n')
})

t.test('a damaged append-only file is put aside and logged, and the start goes on', hasReal, async (t) => {
  const dataDir = await damagedFolder(t, (bytes) => Buffer.concat([Buffer.from('*9\r\n$bad\r\n'), bytes]))
  const events: string[] = []
  const log: Log = { ...NOTHING, error: (event) => void events.push(event) }
  const redis = await startRedis({ dataDir, log, servers: ['redis-server'] })
  t.teardown(() => redis.stop())
  t.same(events, ['redis_file_damaged'])
  t.equal(await say(redis.socketPath, 'PING\r\n'), '+PONG\r\n')
  t.ok(readdirSync(join(dataDir, 'redis')).some((name) => name.startsWith('damaged-')))
})

t.test('a data directory may have a path longer than a socket path', async (t) => {
  const dataDir = join(folder(t), 'd'.repeat(120), 'e'.repeat(60))
  mkdirSync(dataDir, { recursive: true })
  const redis = await startRedis({ dataDir, log: NOTHING })
  t.teardown(() => redis.stop())
  t.equal(await say(redis.socketPath, 'PING\r\n'), '+PONG\r\n')
})

t.test('a record that names a foreign process does not end that process', async (t) => {
  const dataDir = folder(t)
  mkdirSync(join(dataDir, 'redis'))
  const record = { pid: process.ppid, socketPath: join(dataDir, 'redis.sock.gone') }
  writeFileSync(join(dataDir, 'redis', 'server.json'), JSON.stringify(record))
  const redis = await startRedis({ dataDir, log: NOTHING, servers: [] })
  t.teardown(() => redis.stop())
  t.ok(isAlive(process.ppid))
})

for (const [place, harm] of [
  ["another user's folder", (path: string) => chownSync(path, 65_534, 65_534)],
  ['a folder of another name', (path: string) => renameSync(path, join(dirname(path), 'other'))],
  ['a folder that holds more than a socket', () => undefined],
] as const) {
  const skip = process.getuid?.() !== 0 && place.startsWith('another user') && 'only root can try'
  t.test(`${place} that a record of an earlier start names is left alone`, { skip }, async (t) => {
    const [dataDir, home] = [folder(t), folder(t)]
    mkdirSync(join(dataDir, 'redis'))
    mkdirSync(join(home, 'sluice-old'))
    writeFileSync(join(home, 'sluice-old/letter.txt'), 'mine')
    harm(join(home, 'sluice-old'))
    const [name = ''] = readdirSync(home)
    const record = { pid: 2 ** 22 + 1, socketPath: join(home, name, 'redis.sock') }
    writeFileSync(join(dataDir, 'redis/server.json'), JSON.stringify(record))
    const redis = await startRedis({ dataDir, log: NOTHING, servers: [] })
    await redis.stop()
    t.ok(existsSync(join(home, name, 'letter.txt')))
  })
}

t.test('skips a server program that is not on the PATH', async (t) => {
  t.equal(await findServer(['no-such-redis-server']), null)
})

/** A data directory whose server wrote one value and ended, with its newest increment rewritten by `harm`. */
async function damagedFolder(t: Tap.Test, harm: (bytes: Buffer) => Buffer): Promise<string> {
  const dataDir = folder(t)
  const first = await startRedis({ dataDir, log: NOTHING, servers: ['redis-server'] })
  await say(first.socketPath, 'SET a 1\r\n')
  await first.stop()
  const increments = join(dataDir, 'redis', 'appendonlydir')
  const file = readdirSync(increments).find((name) => name.endsWith('.incr.aof'))
  if (file === undefined) throw new Error('no increment was written')
  writeFileSync(join(increments, file), harm(readFileSync(join(increments, file))))
  return dataDir
}

declare namespace Tap {
  interface Test {
    teardown(done: () => unknown): unknown
  }
}

function folder(t: Tap.Test): string {
  return temporaryFolder(t, 'redis')
}

function recordOf(dataDir: string): { pid: number } {
  return JSON.parse(readFileSync(join(dataDir, 'redis', 'server.json'), 'utf8'))
}

function say(socketPath: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => socket.write(line))
    socket.once('error', reject)
    socket.once('data', (reply) => {
      socket.destroy()
      resolve(reply.toString())
    })
  })
}

/** A zombie counts as gone: a pid 1 that reaps late keeps its pid. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
