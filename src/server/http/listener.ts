import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import type { Connections } from './connections.ts'
import type { WireRequest, WireResponse } from './reply/wire.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free port; other fronts cannot join that port. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  readonly connections: Connections
  /** Must answer, or close, or attach `onAborted`, and must not throw: otherwise the process ends. */
  readonly serve: (res: WireResponse, req: WireRequest) => void
}

export interface Listener {
  readonly port: number
  /** Refuses new connections; existing ones go on. */
  stopAccepting(): void
  /** Cuts every connection. */
  close(): void
}

/**
 * Opens the front's only port. The only file that uses uWebSockets.js: only its default export exists at run
 * time, and only on the main thread of a process (a worker thread that hosts the library ends the process).
 * Rejects when the address belongs to another user's process or the TLS files cannot be used.
 */
export async function openListener({
  host,
  port,
  tls,
  connections,
  serve,
}: ListenOptions): Promise<Listener> {
  // Not typed; without it every reply names the library and its version.
  const quiet = uWS as unknown as { _cfg(option: 'silent'): void }
  quiet._cfg('silent')
  if (tls !== null) checkTls(tls)
  const app =
    tls === null ? uWS.App() : uWS.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  app.filter((res: HttpResponse, change) => {
    if (Number(change) < 0) connections.left()
    else if (!connections.came()) res.close()
  })
  app.any('/*', (res: HttpResponse, req: HttpRequest) => serve(res, req))
  return new Promise((resolve, reject) => {
    app.listen(host, port, (socket: us_listen_socket | false) => {
      if (socket === false) reject(new Error(`cannot listen on ${host}:${port}`))
      else resolve(listenerOf(app, socket))
    })
  })
}

/** The library reports only that it failed. */
function checkTls({ certFile, keyFile }: NonNullable<ListenOptions['tls']>): void {
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the TLS files ${certFile} and ${keyFile} cannot be used: ${reason}`, { cause: error })
  }
}

function listenerOf(app: TemplatedApp, socket: us_listen_socket): Listener {
  let isAccepting = true
  const stopAccepting = (): void => {
    if (isAccepting) uWS.us_listen_socket_close(socket)
    isAccepting = false
  }
  return {
    port: uWS.us_socket_local_port(socket),
    stopAccepting,
    close() {
      isAccepting = false
      app.close()
    },
  }
}
