/** A fresh clone, Node and the npm registry are enough for any user, anywhere, also after a hard kill. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { plainEnvironment } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { isOnPath, outsidePostgres, outsideRedis } from '../../support/nodes/outside-stores.ts'
import { processes, tree } from '../../support/load/process-cpu.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { Program, Proof } from '../proof.ts'
import { cloned, end, INSTALL_MS_MAX, start, type Clone, type Place, type Started } from './clone.ts'

const GONE_MS_MAX = 5_000
const SECOND_START_MS_MAX = 3_000
/** Who the clone is given to when root runs the program. */
const NOBODY = 65_534

export const program: Program = {
  text: 'npm start in a fresh clone with an empty HOME and no Redis: as root, as another user, in a 0700 home; kill -9; outside stores',
  async run(proof) {
    if (!(await isOnPath('git'))) {
      proof.skipped = 'git is not on the PATH'
      return
    }
    const isRoot = process.getuid?.() === 0
    const places = isRoot
      ? ROOT_PLACES
      : [{ name: 'as this user in a 0700 home', uid: process.getuid?.() ?? 0, mode: 0o700 }]
    for (const place of proof.isShort ? places.slice(-1) : places) await inPlace(proof, place)
    await withOutsideStores(proof)
  },
}

const ROOT_PLACES: readonly Place[] = [
  { name: 'as root', uid: 0, mode: 0o755 },
  { name: 'as root in a 0700 home', uid: 0, mode: 0o700 },
  { name: 'as another user in a 0700 home', uid: NOBODY, mode: 0o700 },
]

async function inPlace(proof: Proof, place: Place): Promise<void> {
  const clone = await cloned(proof, place)
  const first = await start(clone)
  proof.say(`${place.name}: ready after ${first.tookMs.toFixed(0)} ms, install and build included`)
  const pasted = pastedLine(first)
  proof.check(
    `${place.name}: the pasted line answers 200`,
    pasted.status === 200,
    `${pasted.status}, ${pasted.found}`,
  )
  const family = pidsOf(first)
  // `npm start` runs the supervisor in its child.
  process.kill(supervisorOf(first), 'SIGKILL')
  const goneMs = await untilGone(clone, family)
  proof.check(
    `${place.name}: kill -9 of the supervisor leaves no process behind`,
    goneMs < INSTALL_MS_MAX,
    `all gone after ${goneMs.toFixed(0)} ms`,
  )
  proof.checkTimed(`${place.name}: within 5 s`, goneMs <= GONE_MS_MAX, `${goneMs.toFixed(0)} ms`)

  const second = await start(clone)
  const again = pastedLine(second)
  proof.check(
    `${place.name}: the next start works with the same key`,
    again.status === 200,
    `${again.status}, ${again.found}`,
  )
  proof.checkTimed(
    `${place.name}: the second start takes under 3 s`,
    second.tookMs <= SECOND_START_MS_MAX,
    `${second.tookMs.toFixed(0)} ms`,
  )
  const secondFamily = pidsOf(second)
  await end(second.child)
  const leftMs = await untilGone(clone, secondFamily)
  proof.check(
    `${place.name}: SIGTERM leaves no process behind`,
    leftMs < INSTALL_MS_MAX,
    `${leftMs.toFixed(0)} ms`,
  )
}

async function withOutsideStores(proof: Proof): Promise<void> {
  const redis = await outsideRedis()
  if (redis === null) return proof.say('outside stores: left out, redis-server is not on the PATH')
  proof.after(() => redis.close())
  const postgres = await outsidePostgres()
  proof.after(() => postgres.close())
  const clone = await cloned(proof, { name: 'outside stores', uid: process.getuid?.() ?? 0, mode: 0o755 })
  const started = await start({
    ...clone,
    env: { ...clone.env, DATABASE_URL: postgres.url, REDIS_URL: redis.url },
  })
  const pasted = pastedLine(started)
  proof.check(
    'with a Redis and a Postgres of the operator: the pasted line answers 200',
    pasted.status === 200,
    `${pasted.status}, ${pasted.found}`,
  )
  proof.check(
    'the ready line says that both are external',
    /"postgres":"external".*"redis":"external"/.test(started.output()),
    /\{"event":"ready".*\}/.exec(started.output())?.[0] ?? 'no ready line',
  )
  await end(started.child)
}

/**
 * Runs the printed line as a person would paste it, or one made of the key file where no line was printed.
 */
function pastedLine({ clone, output }: Started): { status: number; found: string } {
  const line = /^ *(curl -s .*)$/m.exec(output())?.[1] ?? ''
  const ran = spawnSync('sh', ['-c', `${line} -w '\\n%{http_code}'`], {
    encoding: 'utf8',
    cwd: clone.folder,
    env: plainEnvironment(),
  })
  const [body = '', status = '0'] = ran.stdout.split(/\n(?=\d+$)/)
  return { status: Number(status), found: line === '' ? 'no curl line was printed' : `${body.length} bytes` }
}

function pidsOf(started: Started): ReadonlySet<number> {
  return new Set(tree(started.child.pid ?? 0).map((row) => row.pid))
}

/** `npm start` replaces its shell by the supervisor (see package.json). */
function supervisorOf(started: Started): number {
  const found = tree(started.child.pid ?? 0).find((row) =>
    row.arguments.some((argument) => argument.endsWith('tools/start.mjs')),
  )
  if (found === undefined) throw new Error(`no supervisor below npm:\n${started.output()}`)
  return found.pid
}

/** Milliseconds until none is left of those that ran, and of whatever else was started in the clone. */
async function untilGone(clone: Clone, family: ReadonlySet<number>): Promise<number> {
  const beganAt = monotonicMs()
  const mark = `SLUICE_PORT=${clone.env['SLUICE_PORT'] ?? ''}`
  while (monotonicMs() - beganAt < INSTALL_MS_MAX) {
    const left = await Promise.all(
      processes()
        .filter((row) => row.state !== 'Z')
        .map(
          async (row) =>
            family.has(row.pid) ||
            row.arguments.some((argument) => argument.startsWith(clone.folder)) ||
            (await readFile(`/proc/${row.pid}/environ`, 'latin1').catch(() => '')).split('\0').includes(mark),
        ),
    )
    if (!left.includes(true)) break
    await pause(50)
  }
  return monotonicMs() - beganAt
}
