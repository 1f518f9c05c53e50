import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { openStore, Store, type Sql, type StoreOptions } from '../../../src/server/store/base/open.ts'
import { KEEPER_FILE, KEEPER_PATH } from './postgres-keeper-path.ts'
import type { Teardown } from '../teardown.ts'
import { pause } from '../wait.ts'

export interface TestDatabase {
  readonly url: string
}

/** Milliseconds for the first start of the cluster on a busy machine. */
const KEEPER_MS_MAX = 60_000
/** Milliseconds that a store waits at least where its bounds are not what a test is about. */
const STORE_MS_MIN = 30_000
/** A connection of a busy machine takes seconds to open, and what holds a lock there takes longer than usual. */
const PATIENT = { connectSMax: STORE_MS_MIN / 1_000, lockMsMax: STORE_MS_MIN } as const

/**
 * A database of its own for a test, migrated. All test processes of a run share one cluster: its keeper is
 * started by the first of them, and ends some seconds after the last.
 */
export async function openTestDatabase(
  t: Teardown,
  kind: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const { url, lease } = await lend(kind)
  t.teardown(() => void lease.destroy())
  return { url }
}

/**
 * A migrated database and a patient client of it, both closed with the test.
 *
 * @param bounds those that the test is about
 */
export async function openTestStore(
  t: Teardown,
  poolMax = 4,
  bounds: Pick<StoreOptions, 'lockMsMax'> = {},
): Promise<Store> {
  const { url } = await openTestDatabase(t)
  const store = openStore({ url, poolMax, applicationName: 'sluice-test', ...PATIENT, ...bounds })
  t.teardown(() => store.close())
  return store
}

/**
 * Plants what no call makes in one statement, such as 100,000 rows: on a busy machine that takes longer than a
 * statement of the product may.
 */
export function plantMany<T>(store: { readonly sql: Sql }, run: (tx: Sql) => Promise<T>): Promise<unknown> {
  return store.sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`
    return run(tx as unknown as Sql)
  })
}

/**
 * Has every store of this process wait long, for tests that are not about its bounds: the shortest, that of a
 * poll of the epoch, is 400 ms, and a machine that stands still for it would be an outage. @returns what
 * makes the bounds those of the product again
 */
export function waitLong(): () => void {
  const bounded = Object.getOwnPropertyDescriptor(Store.prototype, 'within')?.value as Store['within']
  Store.prototype.within = function <T>(
    this: Store,
    timeoutMs: number,
    run: (sql: Sql) => PromiseLike<T>,
  ): Promise<T> {
    return Reflect.apply<Store, [number, (sql: Sql) => PromiseLike<T>], Promise<T>>(bounded, this, [
      Math.max(timeoutMs, STORE_MS_MIN),
      run,
    ])
  }
  return () => void (Store.prototype.within = bounded)
}

/** The open connection is the lease: the database is given back when it ends, also by our death. */
async function lend(kind: 'migrated' | 'empty'): Promise<{ url: string; lease: Socket }> {
  const endsAt = performance.now() + KEEPER_MS_MAX
  for (;;) {
    const lent = await ask(kind)
    if (lent !== null) return lent
    if (performance.now() > endsAt) throw new Error('the keeper of the test cluster does not come up')
    startKeeper()
    await pause(100)
  }
}

function ask(kind: string): Promise<{ url: string; lease: Socket } | null> {
  return new Promise((resolve, reject) => {
    const lease = connect(KEEPER_PATH)
    let text = ''
    lease.on('connect', () => lease.write(`${kind}\n`))
    lease.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.endsWith('\n')) return
      if (text.startsWith('error:')) return reject(new Error(`the test cluster failed: ${text.trim()}`))
      // From here on it must not keep the test's process alive.
      lease.unref()
      resolve({ url: text.trim(), lease })
    })
    lease.on('error', () => resolve(null))
    lease.on('close', () => resolve(null))
  })
}

let isKeeperStarted = false

/** Any number may be started: those that come second end at once. */
function startKeeper(): void {
  if (isKeeperStarted) return
  isKeeperStarted = true
  setTimeout(() => (isKeeperStarted = false), 2_000).unref()
  // Nothing of tap's is inherited: its loader hook would slow the keeper and outlive the run with it.
  spawn(process.execPath, [KEEPER_FILE], { detached: true, stdio: 'ignore', cwd: '/', env: {} }).unref()
}
