/** Calls before, during and after a time in which Postgres refuses, and what the node reports meanwhile. */
import { startLoad } from '../../support/load/load.ts'
import { monotonicMs, type LoadRequest, type LoadResult } from '../../support/load/load-plan.ts'
import { runToEnd, sluice } from '../../support/nodes/node.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { Stand } from '../../support/nodes/stand.ts'
import { tally, type Proof } from '../proof.ts'

/** Calls a second, and the connections that share them. */
const [OFFERED_PER_S, CONNECTIONS] = [20, 16]
/** Milliseconds between two changes of a key. */
const CHANGE_MS = 500
const LOOK_MS = 20
const GIVE_UP_MS = 60_000
/** Milliseconds from when Postgres takes writes until the last call that fails. */
const BACK_MS_MAX = 5_000
/** Error type of a call whose store is lost: its status is 503, or 500 where an operation has no 503. */
const LOST = 'store_unavailable'
const BOUNDARY = 'prove-postgres-refuses'

export interface Outage {
  readonly name: string
  /** Reason of `/readyz` meanwhile. */
  readonly reason: 'postgres_down' | 'fronts_without_postgres'
  /** What `doctor` finds at Postgres meanwhile. */
  readonly doctor: RegExp
  begin(): Promise<unknown>
  /** Runs while Postgres refuses. */
  meanwhile?(): Promise<void>
  /** Resolves when Postgres takes writes again. */
  end(): Promise<unknown>
}

/** Offers paid and free calls, reads, uploads and changes of a key. */
export async function outage(proof: Proof, stand: Stand, given: Outage): Promise<void> {
  const restMs = proof.isShort ? 500 : 5_000
  const load = await startLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: CONNECTIONS,
    durationMs: 600_000,
    pace: { kind: 'closed' },
    ratePerSMax: OFFERED_PER_S,
    requests: offered(stand),
    keepRows: { except: [] },
  })
  const changes = await Changes.start(stand)
  await pause(restMs)
  const from = stand.output().length
  await given.begin()
  const degradedMs = await untilReasons(stand, (reasons) => reasons.includes(given.reason))
  const change = await changes.once()
  const finding = await doctorOf(stand)
  await given.meanwhile?.()
  await pause(restMs)
  await given.end()
  const backAt = monotonicMs()
  const readyMs = await untilReasons(stand, (reasons) => reasons.length === 0)
  await changes.untilWritten()
  await pause(restMs)
  const made = await changes.stop()
  const result = await load.stop()
  const log = stand.output().slice(from)
  judge(proof, given, { change, finding, degradedMs, readyMs, backAt, made, result, log })
}

interface Observed {
  /** The change of a key while Postgres refused. */
  readonly change: Change
  /** What doctor said of Postgres. */
  readonly finding: string
  readonly degradedMs: number
  readonly readyMs: number
  readonly backAt: number
  readonly made: readonly Change[]
  readonly result: LoadResult
  /** What the node wrote since the outage began. */
  readonly log: string
}

function judge(proof: Proof, { name, reason, doctor }: Outage, seen: Observed): void {
  const { change, finding, degradedMs, readyMs, backAt, made, result, log } = seen
  const others = result.rows.filter(({ status }) => status !== 200 && status !== 503)
  proof.check(
    `${name}: every call is answered 200 or 503`,
    others.length === 0 && result.requests > 0,
    `${tally(result.statuses)} ${result.failures.join(', ')}`,
  )
  const wrong = made.filter(({ type }) => type !== 'none' && type !== LOST)
  proof.check(`${name}: every change is made, or refused as ${LOST}`, wrong.length === 0, tallyOf(made))
  proof.check(
    `${name}: a change meanwhile is ${LOST}`,
    change.type === LOST,
    `${change.status} ${change.type}`,
  )
  proof.check(
    `${name}: /readyz has ${reason}, and no reason after it`,
    Math.max(degradedMs, readyMs) < GIVE_UP_MS,
    `${degradedMs.toFixed(0)} ms, ${readyMs.toFixed(0)} ms`,
  )
  proof.check(`${name}: doctor names it`, doctor.test(finding), finding)
  const causes = causesIn(log)
  proof.check(`${name}: the log has the cause`, causes[0] !== undefined, causes[0] ?? 'none')
  const refusedAt = [...result.rows, ...made].filter(({ status }) => status !== 200).map((row) => row.endedAt)
  const lastMs = Math.max(backAt, ...refusedAt) - backAt
  const within = `the last call fails within ${BACK_MS_MAX / 1_000} s of its end`
  proof.checkTimed(`${name}: ${within}`, lastMs <= BACK_MS_MAX, `after ${lastMs.toFixed(0)} ms`)
}

/** Causes of which supervisor and fronts say that Postgres is away. */
function causesIn(log: string): readonly string[] {
  return log.split('\n').flatMap((line) => {
    const isOfPostgres = line.includes('"dependency":"postgres"') || line.includes('"event":"epoch.away"')
    if (!isOfPostgres || !line.includes('"cause":')) return []
    return [(JSON.parse(line) as { readonly cause: { readonly message: string } }).cause.message]
  })
}

interface Change {
  readonly status: number
  /** Error type, or `none`. */
  readonly type: string
  readonly endedAt: number
}

/** Changes a key now and then. */
class Changes {
  readonly #stand: Stand
  readonly #path: string
  readonly #made: Change[] = []
  #isOver = false
  #running: Promise<void>

  private constructor(stand: Stand, hash: string) {
    this.#stand = stand
    this.#path = `/api/v1/keys/${hash}`
    this.#running = this.#run()
  }

  static async start(stand: Stand): Promise<Changes> {
    const { hash } = await stand.cli('keys', 'create', '--name', 'changed', '--kind', 'inference')
    return new Changes(stand, String(hash))
  }

  async once(): Promise<Change> {
    const { port, keys } = this.#stand
    const answer = await fetch(`http://127.0.0.1:${port}${this.#path}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${keys.management_key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify({ limit: this.#made.length + 1 }),
    })
    const { error } = (await answer.json()) as { error?: { metadata: { error_type: string } } }
    const type = error?.metadata.error_type ?? 'none'
    const change = { status: answer.status, type, endedAt: monotonicMs() }
    this.#made.push(change)
    return change
  }

  async untilWritten(): Promise<void> {
    const from = monotonicMs()
    while ((await this.once()).status !== 200 && monotonicMs() - from < GIVE_UP_MS) await pause(LOOK_MS)
  }

  /** @returns all that were tried */
  async stop(): Promise<readonly Change[]> {
    this.#isOver = true
    await this.#running
    return this.#made
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.once()
      await pause(CHANGE_MS)
    }
  }
}

function tallyOf(made: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { status, type } of made)
    counts.set(`${status} ${type}`, (counts.get(`${status} ${type}`) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${kind} × ${count}`).join('; ')
}

/** Each has 503 among its statuses. */
function offered(stand: Stand): readonly LoadRequest[] {
  const paid = stand.embeddings()
  const authorization = paid.headers['authorization'] ?? ''
  const chat = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello' }] }
  return [
    paid,
    { ...paid, path: '/api/v1/chat/completions', body: JSON.stringify(chat) },
    { method: 'GET', path: '/api/v1/files', headers: { authorization }, body: '' },
    {
      method: 'POST',
      path: '/api/v1/files',
      headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body:
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n` +
        `content-type: text/plain\r\n\r\nHello\r\n--${BOUNDARY}--\r\n`,
    },
  ]
}

async function doctorOf({ settings }: Stand): Promise<string> {
  const { stdout, stderr } = await runToEnd(settings, sluice('doctor', '--json'))
  if (!stdout.startsWith('{')) return stderr.slice(0, 300)
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly { readonly check: string; readonly level: string; readonly detail: string }[]
  }
  const [found] = findings.filter(({ check, level }) => check === 'postgres' && level !== 'ok')
  return found?.detail ?? 'nothing'
}

/** Milliseconds until the reasons of `/readyz` are so. */
async function untilReasons(stand: Stand, are: (reasons: readonly string[]) => boolean): Promise<number> {
  const from = monotonicMs()
  while (monotonicMs() - from < GIVE_UP_MS) {
    const { text } = await stand.admin('/readyz').catch(() => ({ text: '{}' }))
    const { reasons } = JSON.parse(text) as { readonly reasons?: readonly string[] }
    if (reasons !== undefined && are(reasons)) break
    await pause(LOOK_MS)
  }
  return monotonicMs() - from
}
