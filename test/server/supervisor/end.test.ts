import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { gate } from '../../support/gate.ts'
import {
  firstKeys,
  isGone,
  nodeSettings,
  removeOutside,
  sluice,
  startNode,
  until,
  type Settings,
  type TestNode,
} from '../../support/nodes/node.ts'
import { processes, tree, type ProcessRow } from '../../support/load/process-cpu.ts'
import { startProvider } from '../../support/embeddings/provider.ts'
import { answers } from '../../support/embeddings/provider-behaviours.ts'
import { spawnServer, stopServer } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { served } from '../../support/wire/served.ts'

// Whole nodes start here, on a machine that may be busy: as few as show the ways in which one ends.
t.setTimeout(600_000)

t.test('SIGTERM while a call is in flight', async (t) => {
  const { DATABASE_URL = '' } = await nodeSettings(t)
  const provider = await startProvider()
  t.teardown(() => provider.close())
  // It answers when everything has been looked at, however long that takes.
  const answering = gate()
  provider.usually((asked) => void answering.opened.then(() => answers()(asked)))
  const stand = await startStand({ provider: provider.origin, settings: { DATABASE_URL } })
  t.teardown(() => stand.stop())
  const family = tree(stand.pid).map((row) => row.pid)
  // The front knows the key from here on: nothing but its provider keeps the call waiting.
  t.equal((await served(() => counted(stand.port, stand.keys.inference_key))).status, 200)
  const url = `http://127.0.0.1:${stand.port}/api/v1/embeddings`
  const call = fetch(url, stand.embeddings())
  await until('the call is in flight', () => isInFlight(stand))
  process.kill(stand.pid, 'SIGTERM')
  // A terminal and npm both send the first one: the repeat must not cut the call.
  process.kill(stand.pid, 'SIGINT')

  t.test('a node that drains takes no new connections and is not ready', async (t) => {
    const headers = { connection: 'close' }
    await until('the port is closed', () =>
      fetch(url, { headers }).then(
        () => false,
        () => true,
      ),
    )
    t.equal((await stand.admin('/readyz')).status, 503)
  })

  t.test('it lets the call finish, and then nothing of the node is left', async (t) => {
    answering.open()
    const answer = await call
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('connection'), 'close')
    await until('everything is gone', () => family.every(isGone))
  })
})

t.test('successive nodes in the same data directory', async (t) => {
  // As root it has its cluster elsewhere: who runs Postgres may not enter such a home.
  const home = temporaryFolder(t, 'home')
  const dataDir = join(home, 'data')
  t.teardown(() => removeOutside(dataDir))
  const settings = { ...(await nodeSettings(t, { isEmbedded: true })), HOME: home, SLUICE_DATA: dataDir }

  t.test('a node that npm started drains when npm is killed', async (t) => {
    // npm runs a script in a shell, which stays alive unless the script says `exec`.
    const command = ['sh', '-c', `${sluice('serve').join(' ')}; exit`]
    const npm = await startNode(t, { ...settings, npm_lifecycle_event: 'start' }, command)
    const family = tree(npm.pid).map((row) => row.pid)
    process.kill(npm.pid, 'SIGKILL')
    await until('everything is gone', () => family.every(isGone))
    // The end of a process is seen before its last output arrives.
    await until('it has said why', () => npm.output().includes('"why":"npm has exited"'))
  })

  t.test('kill -9 of the supervisor leaves no process', async (t) => {
    const node = await startNode(t, settings)
    await node.killHard()
    const isLeft = (row: ProcessRow): boolean =>
      row.state !== 'Z' && row.arguments.some((word) => word.includes(node.dataDir))
    t.same(processes().filter(isLeft), [])
  })

  t.test(
    'the next start has the same keys, and the start after it kills only its own leftover processes',
    async (t) => {
      const keys = firstKeys(dataDir)
      const node = await startNode(t, settings)
      t.same(firstKeys(dataDir), keys)
      t.notMatch(node.output(), keys['inference_key'])
      t.ok(await node.answers())
      await t.test('CLI commands find its store through its data directory', (t) => findsStore(t, node))
      const [front = 0] = node.pidsOf('front')
      // A stopped front does not see that its channel closed: the one thing that outlives a supervisor.
      process.kill(front, 'SIGSTOP')
      process.kill(node.pid, 'SIGKILL')
      await until('the supervisor is gone', () => isGone(node.pid))
      t.notOk(isGone(front))
      const records = JSON.parse(readFileSync(join(node.dataDir, 'processes.json'), 'utf8')) as {
        pid: number
      }[]
      t.ok(records.some(({ pid }) => pid === front))
      await t.test('a node whose output is never read starts, serves and drains', (t) => unread(t, settings))
      t.ok(isGone(front))
    },
  )
})

async function findsStore(t: Test, { dataDir, ready, settings }: TestNode): Promise<void> {
  const { code, stdout } = await runVerb(settings, [
    'keys',
    'create',
    '--name',
    'Second',
    '--kind',
    'inference',
    '--json',
  ])
  t.equal(code, 0)
  const { key } = JSON.parse(stdout) as { readonly key: string }
  t.equal((await served(() => counted(Number(new URL(ready.url).port), key))).status, 200)
  const file = join(dataDir, 'runtime.json')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.notMatch(readFileSync(file, 'utf8'), key)
}

async function unread(t: Test, settings: Settings): Promise<void> {
  const { child } = spawnServer(process.execPath, sluice('serve').slice(1), { env: settings })
  t.teardown(() => stopServer(child))
  child.stdout?.destroy()
  child.stderr?.destroy()
  const ready = `http://127.0.0.1:${settings['SLUICE_ADMIN_PORT']}/readyz`
  await until('it is ready', () =>
    fetch(ready).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  const { inference_key: key = '' } = firstKeys(settings['SLUICE_DATA'] ?? '')
  const answer = await served(() => counted(Number(settings['SLUICE_PORT']), key))
  t.equal(answer.status, 200)
  // Its ready line went into a closed pipe, and so does the log of its drain.
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
}

/** A call that needs no more than the key. */
function counted(port: number, key: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/api/v1/models/count`, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
  })
}

async function isInFlight(stand: Stand): Promise<boolean> {
  return (await stand.admin('/metrics')).text.includes('sluice_requests_in_flight 1')
}
