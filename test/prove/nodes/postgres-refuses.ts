/** Calls while Postgres fails over, is demoted, has no connection left, and while its pooler is restarted. */
import { randomBytes } from 'node:crypto'
import { openStore } from '../../../src/server/store/base/open.ts'
import { connectionsNeeded } from '../../../src/server/supervisor/fleet/shares.ts'
import { nodeSettings, runToEnd, type Settings } from '../../support/nodes/node.ts'
import { startPgBouncer, whyNoPgBouncer, type PoolMode } from '../../support/nodes/pgbouncer.ts'
import {
  NODE_ROLE,
  nodeUrlAt,
  startPostgresServer,
  urlOfAll,
  type PostgresServer,
} from '../../support/nodes/postgres-servers.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'
import type { Program, Proof } from '../proof.ts'
import { outage } from './postgres-outage.ts'

const FRONTS = 2
/** Connections of the role where it may have too few: another program takes them all. */
const LIMIT = 20
const NO_LIMIT = -1
const OTHER_PROGRAM = 'another-program'
const NOBODY = 'nobody'

export const program: Program = {
  text: 'calls are 200 or 503 while Postgres fails over, is demoted or has no connection left and while its pooler restarts, and 200 within 5 s of the end',
  async run(proof) {
    const [first, second] = await startPair(proof)
    const settings = {
      DATABASE_URL: urlOfAll([first, second]),
      SLUICE_ROOT_KEY: randomBytes(32).toString('hex'),
      SLUICE_FRONTS: String(FRONTS),
    }
    await refusedStart(proof, first, settings)
    const stand = await startStand({ settings })
    proof.after(() => stand.stop())
    await failedOver(proof, stand, { from: first, to: second })
    if (!proof.isShort) await failedBack(proof, stand, { from: second, to: first })
    const postgres = proof.isShort ? second : first
    // In short the seed leaves one of them out.
    const left = proof.isShort ? proof.random(2) : null
    if (left !== 0) await madeReadOnly(proof, stand, postgres)
    if (left !== 1) await demoted(proof, stand, postgres)
    await crowded(proof, stand, { postgres, limit: LIMIT, spared: NOBODY, why: /CONNECTION LIMIT|too many/ })
    if (!proof.isShort) await crowdedFronts(proof, stand, postgres)
    await stand.stop()
    await pooled(proof, postgres)
    if (!proof.isShort) await frozen(proof)
  },
}

/** A primary and its standby. */
async function startPair(proof: Proof): Promise<readonly [PostgresServer, PostgresServer]> {
  const first = await startPostgresServer(proof)
  const second = await first.copy()
  await first.start()
  await second.start(first)
  return [first, second]
}

/** A start that wants more connections than the role may have names the limit. */
async function refusedStart(proof: Proof, postgres: PostgresServer, settings: Settings): Promise<void> {
  await limitTo(postgres, LIMIT)
  const own = await nodeSettings(proof, { isEmbedded: true })
  const { code, stderr } = await runToEnd({ ...own, ...settings })
  await limitTo(postgres, NO_LIMIT)
  const line = stderr.split('\n').find((one) => one.includes('CONNECTION LIMIT')) ?? stderr.slice(-200)
  const isNamed = line.includes(`${LIMIT} by the CONNECTION LIMIT of the role`)
  proof.check('a start beyond the limit of the role is refused', code === 1 && isNamed, `${code}: ${line}`)
}

interface Pair {
  readonly from: PostgresServer
  readonly to: PostgresServer
}

/** The primary is stopped, and its standby promoted. */
function failedOver(proof: Proof, stand: Stand, { from, to }: Pair): Promise<void> {
  return outage(proof, stand, {
    name: 'failover',
    reason: 'postgres_down',
    doctor: /./,
    begin: () => from.stop(),
    end: () => to.promote(),
  })
}

/** The old primary has become the standby of the new one, which is killed. */
async function failedBack(proof: Proof, stand: Stand, { from, to }: Pair): Promise<void> {
  await to.start(from)
  await outage(proof, stand, {
    name: 'failover by a kill',
    reason: 'postgres_down',
    doctor: /./,
    begin: () => from.kill(),
    end: () => to.promote(),
  })
}

/** The machine of the primary dies: its connections are not closed. */
async function frozen(proof: Proof): Promise<void> {
  const [first, second] = await startPair(proof)
  const settings = { DATABASE_URL: urlOfAll([first, second]), SLUICE_FRONTS: String(FRONTS) }
  const stand = await startStand({ settings })
  proof.after(() => stand.stop())
  await outage(proof, stand, {
    name: 'failover from a silent host',
    reason: 'postgres_down',
    doctor: /./,
    begin: async () => first.freeze(),
    end: () => second.promote(),
  })
}

function madeReadOnly(proof: Proof, stand: Stand, postgres: PostgresServer): Promise<void> {
  const set = (value: 'on' | 'off'): Promise<unknown> =>
    postgres.admin(async (sql) => {
      await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await sql`SELECT pg_reload_conf()`
    })
  return outage(proof, stand, {
    name: 'read-only by a setting',
    reason: 'postgres_down',
    doctor: /read-only/,
    begin: () => set('on'),
    end: () => set('off'),
  })
}

/** The primary comes back as a standby that follows no server, and is promoted in the end. */
function demoted(proof: Proof, stand: Stand, postgres: PostgresServer): Promise<void> {
  return outage(proof, stand, {
    name: 'demotion',
    reason: 'postgres_down',
    doctor: /./,
    async begin() {
      await postgres.stop()
      await postgres.start('nobody')
    },
    end: () => postgres.promote(),
  })
}

/** The supervisor keeps its connection, and the role may have as many as a reload may need: it begins. */
function crowdedFronts(proof: Proof, stand: Stand, postgres: PostgresServer): Promise<void> {
  return crowded(proof, stand, {
    postgres,
    limit: connectionsNeeded({ fronts: FRONTS, runners: 1 }),
    spared: 'sluice-supervisor',
    why: /could not reach Postgres/,
  })
}

interface Crowd {
  readonly postgres: PostgresServer
  readonly limit: number
  /** Name of connections that are not ended. */
  readonly spared: string
  /** Why a reload is refused. */
  readonly why: RegExp
}

/** Another program of the role takes every connection that the role may have. */
async function crowded(proof: Proof, stand: Stand, { postgres, limit, spared, why }: Crowd): Promise<void> {
  const name = `${limit} connections, all of them taken`
  const others = openStore({
    url: nodeUrlAt(postgres.port),
    poolMax: limit,
    applicationName: OTHER_PROGRAM,
    idleMsMax: 600_000,
  })
  await outage(proof, stand, {
    name,
    reason: spared === NOBODY ? 'postgres_down' : 'fronts_without_postgres',
    doctor: /too many connections for role/,
    async begin() {
      await limitTo(postgres, limit)
      await until('the other program has every connection', async () => {
        await endConnections(postgres, spared)
        await others.warm()
        const held = await connectionsOf(postgres, spared)
        return held + (await connectionsOf(postgres, OTHER_PROGRAM)) === limit
      })
    },
    async meanwhile() {
      const fronts = stand.fronts()
      const problem = await stand.cli('reload').then(() => 'accepted', String)
      const kept = stand.fronts().filter((pid) => fronts.includes(pid)).length
      proof.check(`${name}: a reload is refused`, why.test(problem), messageIn(problem))
      proof.check(`${name}: the fronts go on`, kept === fronts.length, `${kept} of ${fronts.length}`)
    },
    async end() {
      await others.close()
      await limitTo(postgres, NO_LIMIT)
    },
  })
}

/** Nodes behind PgBouncer, which is killed and started again. */
async function pooled(proof: Proof, postgres: PostgresServer): Promise<void> {
  const why = whyNoPgBouncer()
  if (why !== null) {
    proof.skipped = `PgBouncer alone: ${why}`
    return
  }
  const modes: readonly PoolMode[] = ['transaction', 'session']
  // In short the seed picks one.
  const picked = modes[proof.random(modes.length)]
  for (const mode of proof.isShort ? modes.filter((one) => one === picked) : modes) {
    await postgres.addDatabase(mode)
    const pooler = await startPgBouncer(proof, postgres, mode)
    const settings = { DATABASE_URL: nodeUrlAt(pooler.port, mode), SLUICE_FRONTS: String(FRONTS) }
    const stand = await startStand({ settings })
    proof.after(() => stand.stop())
    await outage(proof, stand, {
      name: `PgBouncer in ${mode} mode is restarted`,
      reason: 'postgres_down',
      doctor: /ECONNREFUSED/,
      begin: () => pooler.kill(),
      end: () => pooler.start(),
    })
    await stand.stop()
    await pooler.kill()
  }
}

function limitTo(postgres: PostgresServer, connections: number): Promise<unknown> {
  return postgres.admin((sql) => sql.unsafe(`ALTER ROLE ${NODE_ROLE} CONNECTION LIMIT ${connections}`))
}

/** The message that a verb printed as it failed. */
function messageIn(problem: string): string {
  return /"message":"(.*)"\}/.exec(problem)?.[1] ?? problem.slice(0, 200)
}

/** Ends those of the nodes. @param spared name of those that are not ended */
function endConnections(postgres: PostgresServer, spared: string): Promise<unknown> {
  return postgres.admin(
    (sql) => sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = ${NODE_ROLE} AND application_name NOT IN (${OTHER_PROGRAM}, ${spared})`,
  )
}

function connectionsOf(postgres: PostgresServer, applicationName: string): Promise<number> {
  return postgres.admin(async (sql) => {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = ${applicationName}`
    return row?.count ?? 0
  })
}
