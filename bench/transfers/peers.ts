/** Other file servers on the same rig, each with one serving process, as one front of Sluice. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { freePort, spawnServer, stopServer, untilListening } from '../../test/support/nodes/spawned.ts'
import { wholeFile } from '../../test/support/files/wave-file.ts'
import { NO_NGINX, NO_PEERS, packageVersion, programOnPath, versionOf } from '../peers.ts'
import type { Absent } from '../target.ts'
import type { TransferRequest } from './plan.ts'
import type { PeerSettings } from './peer-process.ts'
import type { FileServer, FileTarget } from './target.ts'

/** Sizes of the served files; empty for uploads. */
export interface PeerInput {
  readonly root: string
  readonly downloadBytes: readonly number[]
}

const FORM: Omit<TransferRequest, 'path'> = { method: 'POST', headers: {}, body: 'form', status: 200 }
const FETCH: Omit<TransferRequest, 'path'> = { method: 'GET', headers: {}, body: 'none', status: 200 }
const NO_LOOP = (): Promise<null> => Promise.resolve(null)

/**
 * nginx with buffers that make it faster than its default of 16 KB. nginx reads each body into a file before it
 * passes an empty request on to itself, and serves files with `sendfile`.
 */
function nginxConfig(folder: string, port: number): string {
  const temporary = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `${user} worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off; ${temporary.join(' ')} client_body_temp_path ${folder}/client_body;
  keepalive_requests 100000000; client_max_body_size 200m; client_body_buffer_size 512k; sendfile on; tcp_nopush on;
  server {
    listen 127.0.0.1:${port};
    location = /upload {
      client_body_in_file_only clean; proxy_pass_request_body off; proxy_set_header Content-Length "";
      proxy_pass http://127.0.0.1:${port}/ok;
    }
    location = /ok { return 200 ok; }
    location /files/ { root ${folder}; }
  }
}
`
}

export async function startFileNginx(input: PeerInput): Promise<FileServer | Absent> {
  const program = programOnPath('nginx')
  if (program === null) return { name: 'nginx', absent: NO_NGINX }
  const folder = await folderWithFiles('nginx', input)
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, port))
  const args = ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`]
  const server = spawnServer(program, args, { detached: true })
  await untilListening(port, server)
  const pid = server.child.pid ?? 0
  return {
    targets: [
      {
        name: 'nginx',
        pid,
        port,
        serves: (row) => row.pid !== pid,
        request: (bytes) => requestOf(input, bytes, { ...FORM, path: '/upload' }),
        loopP99Ms: NO_LOOP,
        clear: () => Promise.resolve(),
        note:
          `${versionOf(program)}, one worker: uploads by client_body_in_file_only through buffers of 512 KB, without ` +
          'fsync, the form as it came; downloads by sendfile',
      },
    ],
    async stop() {
      await stopServer(server.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const PEER = fileURLToPath(new URL('./peer-process.js', import.meta.url))

/** node:http with busboy, once in its common form and once with an fsync before the answer. */
export async function startBusboy(input: PeerInput): Promise<FileServer> {
  const peer = await startPeer('busboy', input)
  const target = (name: string, path: string, note: string): FileTarget => ({
    ...peer.common,
    name,
    request: (bytes) => requestOf(input, bytes, { ...FORM, path }),
    note,
  })
  const plain = target(
    'busboy',
    '/upload',
    'node:http + busboy: the file part piped to disk, without fsync, hash, seal or sniffing; downloads by createReadStream',
  )
  const synced = target('busboy-synced', '/upload?fsync', 'node:http + busboy, fsync before the answer')
  return { targets: input.downloadBytes.length > 0 ? [plain] : [plain, synced], stop: peer.stop }
}

const TUS = 'tools/peers/node_modules/@tus'

/** The tus protocol's own server; its uploads come in one request (`creation-with-upload`). */
export async function startTus(input: PeerInput): Promise<FileServer | Absent> {
  const folder = join(input.root, TUS)
  if (!existsSync(join(folder, 'server'))) return { name: 'tus', absent: NO_PEERS }
  const peer = await startPeer('tus', input, folder)
  return {
    targets: [
      {
        ...peer.common,
        name: 'tus',
        request: (bytes) => ({
          method: 'POST',
          path: '/tus',
          headers: {
            'tus-resumable': '1.0.0',
            'upload-length': String(bytes),
            'content-type': 'application/offset+octet-stream',
          },
          body: 'raw',
          status: 201,
        }),
        note: `@tus/server ${packageVersion(join(folder, 'server'))} with @tus/file-store: a raw body instead of a form, without fsync`,
      },
    ],
    stop: peer.stop,
  }
}

interface Peer {
  readonly common: Omit<FileTarget, 'name' | 'request' | 'note'>
  readonly stop: () => Promise<void>
}

async function startPeer(kind: PeerSettings['kind'], input: PeerInput, packages = ''): Promise<Peer> {
  const folder = await folderWithFiles(kind, input)
  const uploads = join(folder, 'uploads')
  await mkdir(uploads)
  const port = await freePort()
  // The process has a session of its own, as the product's fronts have: the kernel distributes cores by
  // session (autogroup).
  const child = fork(PEER, { env: plainEnvironment(), execArgv: [], detached: true })
  const settings: PeerSettings = { kind, port, folder, packages }
  child.send(settings)
  await untilListening(port, { child, output: () => '' })
  const pid = child.pid ?? 0
  return {
    common: {
      pid,
      port,
      serves: (row) => row.pid === pid,
      async loopP99Ms() {
        child.send('loop')
        const [value] = (await once(child, 'message')) as number[]
        return value ?? null
      },
      async clear() {
        for (const name of await readdir(uploads)) await rm(join(uploads, name), { force: true })
      },
    },
    async stop() {
      await stopServer(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** An upload, or the download of the file of that size where the server was started for downloads. */
function requestOf(input: PeerInput, bytes: number, upload: TransferRequest): TransferRequest {
  return input.downloadBytes.length > 0 ? { ...FETCH, path: `/files/${bytes}.wav` } : upload
}

async function folderWithFiles(name: string, input: PeerInput): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-bench-${name}-`))
  await mkdir(join(folder, 'files'))
  for (const bytes of input.downloadBytes)
    await writeFile(join(folder, 'files', `${bytes}.wav`), wholeFile(bytes))
  return folder
}
