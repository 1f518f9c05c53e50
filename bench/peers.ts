/** Other servers on the same rig: nginx as a plain keep-alive proxy, and a gateway from npm. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort, spawnServer, stopServer, untilListening } from '../test/support/nodes/spawned.ts'
import type { Absent, Target } from './target.ts'

export interface Upstream {
  readonly port: number
  /** Body of the embeddings request. */
  readonly embeddings: string
  /** Body of the chat request whose answer has the same number of bytes. */
  readonly chat: string
  /** Answers are streams: a proxy must not gather them. */
  readonly isStream?: boolean
}

/** Reason why nginx is left out, with the command that adds it. */
export const NO_NGINX = 'nginx is not on the PATH; `apt-get install nginx-light` or the like adds it'
/** Reason why a peer is left out, with the command that adds it. */
export const NO_PEERS = 'it is not installed; `npm ci --ignore-scripts --prefix tools/peers` adds it'

const JSON_HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench' }

/** One worker, as one front of Sluice; no log, and no buffering to disk. */
function nginxConfig(
  folder: string,
  port: number,
  { port: upstreamPort, isStream = false }: Upstream,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `${user} worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections ${isStream ? 8_192 : 1_024}; }
http {
  access_log off; ${temporary.join(' ')}
  keepalive_requests 100000000; client_max_body_size 64m; client_body_buffer_size 64k; proxy_buffers 8 64k;
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive ${isStream ? 2_048 : 64}; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection "";${isStream ? ' proxy_buffering off;' : ''} }
  }
}
`
}

export async function startNginx(upstream: Upstream): Promise<Target | Absent> {
  const program = programOnPath('nginx')
  if (program === null) return { name: 'nginx', absent: NO_NGINX }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-nginx-'))
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, port, upstream))
  const args = ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`]
  const server = spawnServer(program, args, { detached: true })
  await untilListening(port, server)
  return {
    name: 'nginx',
    pid: server.child.pid ?? 0,
    port,
    request: { method: 'POST', path: '/v1/embeddings', headers: JSON_HEADERS, body: upstream.embeddings },
    note: `${versionOf(program)}: a keep-alive reverse proxy with one worker; reads no JSON, knows no keys`,
    async stop() {
      await stopServer(server.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const PORTKEY = 'tools/peers/node_modules/@portkey-ai/gateway'

/** @param root root of the repository */
export async function startPortkey(root: string, upstream: Upstream): Promise<Target | Absent> {
  const program = join(root, PORTKEY, 'build/start-server.js')
  if (!existsSync(program)) return { name: 'portkey', absent: NO_PEERS }
  const port = await freePort()
  const server = spawnServer(process.execPath, [program, `--port=${port}`, '--headless'], {
    env: { NODE_ENV: 'production' },
    detached: true,
  })
  await untilListening(port, server)
  return {
    name: 'portkey',
    pid: server.child.pid ?? 0,
    port,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        ...JSON_HEADERS,
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstream.port}/v1`,
      },
      body: upstream.chat,
    },
    note: `@portkey-ai/gateway ${packageVersion(join(root, PORTKEY))}: the chat route with an answer of as many bytes; no key store was set up`,
    stop: () => stopServer(server.child),
  }
}

export function programOnPath(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

/** @param folder folder of an installed package */
export function packageVersion(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

export function versionOf(program: string): string {
  return spawnSync(program, ['-v'], { encoding: 'utf8' }).stderr.trim().replace('nginx version: ', '')
}
