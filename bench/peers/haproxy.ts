/**
 * HAProxy as a reverse proxy with the checks that it has and that are nearest to the product's: a key from a
 * map, and a rate limit from a stick table.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, spawnServer, stopServer, untilListening } from '../../test/support/nodes/spawned.ts'
import { programOnPath, type Upstream } from '../peers.ts'
import type { Absent, Target } from '../target.ts'

/** Reason why HAProxy is left out, with the command that adds it. */
export const NO_HAPROXY = 'haproxy is not on the PATH; `apt-get install haproxy` or the like adds it'

const KEY = 'bench'
/** Requests a minute that no run reaches. */
const AMPLE_RPM = 1_000_000_000

interface Places {
  readonly keysFile: string
  readonly port: number
  readonly providerPort: number
}

/** One thread, as one front of Sluice. */
export function haproxyConfig({ keysFile, port, providerPort }: Places): string {
  return `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  timeout http-keep-alive 120s
  http-reuse always
backend rates
  stick-table type string len 64 size 100k expire 60s store http_req_rate(60s)
frontend callers
  bind 127.0.0.1:${port}
  http-request set-var(txn.caller) http_auth_bearer,map_str(${keysFile})
  http-request deny deny_status 401 unless { var(txn.caller) -m found }
  http-request track-sc0 var(txn.caller) table rates
  http-request deny deny_status 429 if { sc_http_req_rate(0,rates) gt ${AMPLE_RPM} }
  default_backend provider
backend provider
  server provider 127.0.0.1:${providerPort}
`
}

export async function startHaproxy(upstream: Upstream): Promise<Target | Absent> {
  const program = programOnPath('haproxy')
  if (program === null) return { name: 'haproxy', absent: NO_HAPROXY }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-haproxy-'))
  const [port, keysFile, file] = [await freePort(), join(folder, 'keys.map'), join(folder, 'haproxy.cfg')]
  await writeFile(keysFile, `${KEY} caller-1\n`)
  await writeFile(file, haproxyConfig({ keysFile, port, providerPort: upstream.port }))
  const server = spawnServer(program, ['-db', '-f', file], { detached: true })
  await untilListening(port, server)
  return {
    name: 'haproxy',
    pid: server.child.pid ?? 0,
    port,
    request: {
      method: 'POST',
      path: '/v1/embeddings',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
      body: upstream.embeddings,
    },
    note: `HAProxy ${haproxyVersion(program)}: one thread, the key from a map, requests counted in a stick table; reads no JSON, knows no money`,
    async stop() {
      await stopServer(server.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function haproxyVersion(program: string): string {
  return (
    /version (\S+)/.exec(spawnSync(program, ['-v'], { encoding: 'utf8' }).stdout)?.[1] ??
    'of an unknown version'
  )
}
