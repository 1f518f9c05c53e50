import { stateAddress } from '../../../main/child.ts'
import { msText } from '../../../observe/load-advice.ts'
import { openState, type State } from '../../../redis/open.ts'
import { REDIS_SERVERS } from '../../../supervisor/redis/redis-child.ts'
import { findServer } from '../../../supervisor/redis/redis-find.ts'
import { stderrLog } from '../../parts/stderr-log.ts'
import { doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'
import type { Look } from './look.ts'

/** Checks Redis. The finding is never a problem: without Redis a node still serves, less exactly. Design §3. */
export async function redis({ generation: { config }, runtime, storeMsMax }: Look): Promise<Finding> {
  const url = config.redisUrl?.reveal() ?? null
  const address = url === null ? runtime?.redis : { url }
  if (address === undefined) return embedded()
  const fix = url === null ? 'check the log of the node' : 'check REDIS_URL and the server'
  const away = (why: string): Finding =>
    doubtful('redis', `${why}: every front process applies an equal share of each rate limit`, fix)
  let cause: unknown = null
  const log = {
    ...stderrLog,
    // Unreachable sentinels are logged too, as other events.
    warn: (event: string, fields: Readonly<Record<string, unknown>> = {}) => {
      if (event === 'redis_away') cause ??= fields['cause']
    },
  }
  const state = openState({ ...stateAddress(address), log, isJudging: true })
  try {
    if (!(await answers(state, storeMsMax))) return away(whyAway(cause))
    return good('redis', await detailOf(state, 'url' in address ? 'external' : 'embedded'))
  } catch (problem) {
    return away(reasonOf(problem))
  } finally {
    await state.close()
  }
}

/** True when Redis can be reached. The first try decides: a node would wait for further tries, but doctor should end soon. */
function answers(state: State, msMax: number): Promise<boolean> {
  const refused = new Promise<false>(
    (resolve) =>
      void state.onChange((isReachable) => {
        if (!isReachable) resolve(false)
      }),
  )
  return Promise.race([state.whenReachable(msMax), refused])
}

function whyAway(cause: unknown): string {
  if (typeof cause !== 'string' || cause === '') return 'Redis does not answer'
  return reasonOf(new Error(cause))
}

async function detailOf({ redis: client }: State, where: string): Promise<string> {
  // The first command includes the time of the connection.
  const version = /^redis_version:(\S+)/m.exec(await client.info('server'))?.[1] ?? 'unknown'
  const startedAt = performance.now()
  await client.ping()
  return `${where}, version ${version}, answers in ${msText(performance.now() - startedAt)}`
}

async function embedded(): Promise<Finding> {
  const server = await findServer(REDIS_SERVERS)
  if (server !== null) return good('redis', `embedded: ${server}`)
  const detail = 'no redis-server on the PATH: rate-limit state is lost on restart'
  return doubtful('redis', detail, 'install redis or valkey, or set REDIS_URL')
}
