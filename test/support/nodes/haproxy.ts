/** HAProxy before nodes, with the configuration that docs/operate/several-nodes.md shows. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../source.ts'
import type { BalancerPlace, RunningBalancer } from './nodes.ts'
import { spawnServer, stopServer, untilListening } from './spawned.ts'

const PAGE = `${ROOT}docs/operate/several-nodes.md`
/** What the page leaves to the operator: one process in the foreground, and a line for each call. */
const OWN = 'global\n  log stdout format raw daemon\n  nbthread 1\n'
const LOGGED = 'defaults\n  log global\n  option httplog\n'

/** The configuration of the page with the places of this machine. */
export function haproxyConfig({ port, nodes }: Omit<BalancerPlace, 'folder'>): string {
  const shown = /```text\n([^`]*^backend sluice$[^`]*)```/m.exec(readFileSync(PAGE, 'utf8'))?.[1]
  if (shown === undefined) throw new Error(`${PAGE} shows no backend for HAProxy`)
  const placed = nodes.reduce(
    (text, node, index) =>
      text.replace(new RegExp(`(server node-${index + 1}) \\S+`), `$1 127.0.0.1:${node}`),
    shown,
  )
  return OWN + placed.replace('bind :8080', `bind 127.0.0.1:${port}`).replace('defaults\n', LOGGED)
}

/** Starts HAProxy in the foreground. */
export async function startHaproxy(place: BalancerPlace): Promise<RunningBalancer> {
  mkdirSync(place.folder, { recursive: true })
  chmodSync(place.folder, 0o755)
  const config = join(place.folder, 'haproxy.cfg')
  writeFileSync(config, haproxyConfig(place))
  const server = spawnServer('haproxy', ['-db', '-f', config])
  const counts: Record<string, number> = {}
  const errors: string[] = []
  let rest = ''
  const read = (bytes: Buffer): void => {
    const lines = (rest + bytes.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const call = CALL.exec(line)
      const node = place.nodes[Number(call?.[1]) - 1]
      if (node !== undefined) counts[`127.0.0.1:${node}`] = (counts[`127.0.0.1:${node}`] ?? 0) + 1
      // A call that failed, or a server that went or came.
      if (call === null || Number(call[2]) >= 500 || call[3] !== '--') errors.push(line)
    }
  }
  server.child.stdout?.on('data', read)
  await untilListening(place.port, server)
  return {
    answered: () => counts,
    errors: () => errors,
    stop: () => stopServer(server.child),
  }
}

/** A line of `option httplog`: number of the node, status, and the first letters of how it ended. */
const CALL = / sluice\/(?:node-(\d+)|<NOSRV>) \S+ (-1|\d{3}) \S+ \S+ \S+ (\S\S)/
