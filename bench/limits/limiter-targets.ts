/** Limiters as targets: the cost that each adds to the same minimal server, and the calls that it admits. */
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newApiKey } from '../../src/schemas/keys/api-keys.ts'
import { plainEnvironment } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { freePort, stopServer } from '../../test/support/nodes/spawned.ts'
import { NO_PEERS, packageVersion, programOnPath } from '../peers.ts'
import type { Absent, Target } from '../target.ts'
import { ROOT } from '../text.ts'
import { needsRedis, type LimiterName } from './limiters.ts'
import type { LimiterSettings } from './limiter-process.ts'

const PROCESS = fileURLToPath(new URL('./limiter-process.js', import.meta.url))
const PACKAGE = 'node_modules/rate-limiter-flexible'

export interface LimiterInput {
  readonly limitRpm: number
  /** Folder with the installed peers. */
  readonly packages?: string
}

export async function startLimiter(
  name: LimiterName,
  { limitRpm, packages = join(ROOT, 'tools/peers') }: LimiterInput,
): Promise<Target | Absent> {
  const installed = join(packages, PACKAGE)
  const isPeer = name.startsWith('rate-limiter-flexible')
  if (isPeer && !existsSync(installed)) return { name, absent: NO_PEERS }
  const redisCommand = programOnPath('redis-server') ?? programOnPath('valkey-server')
  const settings: LimiterSettings = { name, port: await freePort(), limitRpm, redisCommand, packages }
  const child = fork(PROCESS, { env: plainEnvironment(), execArgv: [], detached: true })
  child.send(settings)
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the limiter ${name} did not start`)
    }),
  ])
  const store = redisCommand === null ? 'the embedded Redis' : 'a redis-server'
  const version = isPeer ? packageVersion(installed) : ''
  return {
    name,
    pid: child.pid ?? 0,
    port: settings.port,
    request: limiterRequest(),
    note:
      NOTES[name].replace('{version}', version) +
      (needsRedis(name) ? `; over ${store}, whose CPU counts with it` : ''),
    stop: () => stopServer(child),
  }
}

/** A request with an unused key. */
export function limiterRequest(): LoadRequest {
  return {
    method: 'GET',
    path: '/',
    headers: { authorization: `Bearer ${newApiKey('inference').key}` },
    body: '',
  }
}

const NOTES: Readonly<Record<LimiterName, string>> = {
  sluice: 'our limits stage as a front has it, GCRA with tokens lent ahead',
  'rate-limiter-flexible-redis':
    'rate-limiter-flexible {version}, RateLimiterRedis with ioredis, pipelined, refusals kept in memory',
  'rate-limiter-flexible': 'rate-limiter-flexible {version}, RateLimiterMemory: knows one process alone',
  direct: 'the minimal server of node:http without a limiter',
}
