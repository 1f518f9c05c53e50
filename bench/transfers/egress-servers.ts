/**
 * The target of the egress bench, nginx as a reverse proxy to it, and a Sluice node: TLS to the target in
 * both.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned, NO_OPENSSL, type Certificate } from '../../test/support/wire/certificate.ts'
import { freePort, spawnServer, stopServer, untilListening } from '../../test/support/nodes/spawned.ts'
import { startStand } from '../../test/support/nodes/stand.ts'
import { wholeFile } from '../../test/support/files/wave-file.ts'
import { NO_NGINX, programOnPath, versionOf } from '../peers.ts'
import type { Absent } from '../target.ts'
import { isFront, loopP99Ms } from './gateway.ts'
import type { TransferRequest } from './plan.ts'
import type { FileServer, FileTarget } from './target.ts'

/** The target of all subjects: it serves files, and reads request bodies. */
export interface EgressTarget extends FileServer {
  readonly tlsPort: number
  readonly certificate: Certificate
}

type Way = 'up' | 'down'
const WAYS: readonly Way[] = ['up', 'down']

function requestOf(
  way: Way,
  bytes: number,
  base = '',
  headers: TransferRequest['headers'] = {},
): TransferRequest {
  return way === 'up'
    ? { method: 'POST', path: `${base}/up`, headers, body: 'raw', status: 200 }
    : { method: 'GET', path: `${base}/files/${bytes}.wav`, headers, body: 'none', status: 200 }
}

function frame(folder: string, http: string): string {
  const temporary = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `${user} worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off; ${temporary.join(' ')} client_body_temp_path ${folder}/client_body;
  keepalive_requests 100000000; client_max_body_size 200m; sendfile on; tcp_nodelay on;
${http}
}
`
}

/**
 * Starts the target. Requests for its small files without TLS and proxy are the base of the other latencies.
 */
export async function startEgressTarget(sizes: readonly number[]): Promise<EgressTarget | Absent> {
  const program = programOnPath('nginx')
  if (program === null) return { name: 'the target', absent: NO_NGINX }
  if (NO_OPENSSL !== false) return { name: 'the target', absent: NO_OPENSSL }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-target-'))
  await mkdir(join(folder, 'files'))
  for (const bytes of sizes) await writeFile(join(folder, 'files', `${bytes}.wav`), wholeFile(bytes))
  const undone: (() => void)[] = []
  const certificate = selfSigned({ teardown: (done) => undone.push(done) })
  const [port, tlsPort] = [await freePort(), await freePort()]
  const nginx = await startNginx(
    program,
    folder,
    port,
    frame(
      folder,
      `  ssl_certificate ${certificate.certFile}; ssl_certificate_key ${certificate.keyFile};
  server {
    listen 127.0.0.1:${port}; listen 127.0.0.1:${tlsPort} ssl;
    location = /up { proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_pass http://127.0.0.1:${port}/ok; }
    location = /ok { return 200 ok; }
    location /files/ { root ${folder}; }
  }`,
    ),
  )
  const direct: FileTarget = {
    ...nginx,
    name: 'direct',
    request: (bytes) => requestOf('down', bytes),
    note: 'the target itself, without TLS',
  }
  return {
    targets: [direct],
    tlsPort,
    certificate,
    async stop() {
      await nginx.stop()
      undone.forEach((undo) => undo())
    },
  }
}

/**
 * nginx with streamed requests and answers, as Sluice's are, and with buffers that make it faster than its
 * defaults.
 */
export async function startEgressNginx({ tlsPort, certificate }: EgressTarget): Promise<FileServer | Absent> {
  const program = programOnPath('nginx')
  if (program === null) return { name: 'nginx', absent: NO_NGINX }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-proxy-'))
  const port = await freePort()
  const nginx = await startNginx(
    program,
    folder,
    port,
    frame(
      folder,
      `  upstream target { server 127.0.0.1:${tlsPort}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass https://target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host localhost;
      proxy_ssl_verify on; proxy_ssl_trusted_certificate ${certificate.certFile}; proxy_ssl_name localhost; proxy_ssl_server_name on;
      proxy_request_buffering off; proxy_max_temp_file_size 0; proxy_buffer_size 64k; proxy_buffers 8 64k; client_body_buffer_size 256k;
    }
  }`,
    ),
  )
  const note = `${versionOf(program)}, one worker, the same target over TLS, its certificate verified, keep-alive, nothing buffered on disk`
  const targets = WAYS.map((way) => ({
    ...nginx,
    name: `nginx, ${way}`,
    request: (bytes: number) => requestOf(way, bytes),
    note,
  }))
  return { targets, stop: nginx.stop }
}

export async function startEgressSluice({ tlsPort, certificate }: EgressTarget): Promise<FileServer> {
  const stand = await startStand({
    settings: {
      SLUICE_FRONTS: '1',
      SLUICE_EGRESS_ALLOW: '127.0.0.1',
      SLUICE_EGRESS_CA: certificate.certFile,
    },
  })
  const base = `/egress/127.0.0.1:${tlsPort}`
  const headers = { 'x-sluice-key': stand.keys.inference_key }
  const targets = WAYS.map((way): FileTarget => ({
    name: `sluice, ${way}`,
    pid: stand.pid,
    port: stand.port,
    serves: isFront,
    request: (bytes) => requestOf(way, bytes, base, headers),
    loopP99Ms: () => loopP99Ms(stand),
    clear: () => Promise.resolve(),
    note: 'the whole node with one front; key check, header rules, search for placeholders, the gate',
  }))
  return { targets, stop: () => stand.stop() }
}

type Running = Omit<FileTarget, 'name' | 'request' | 'note'> & { readonly stop: () => Promise<void> }

async function startNginx(program: string, folder: string, port: number, config: string): Promise<Running> {
  await writeFile(join(folder, 'nginx.conf'), config)
  const server = spawnServer(
    program,
    ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`],
    { detached: true },
  )
  await untilListening(port, server)
  const pid = server.child.pid ?? 0
  return {
    pid,
    port,
    serves: (row) => row.pid !== pid,
    loopP99Ms: () => Promise.resolve(null),
    clear: () => Promise.resolve(),
    async stop() {
      await stopServer(server.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
