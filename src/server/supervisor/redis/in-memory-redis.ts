import { createServer } from 'node:net'
import {
  attachSession,
  createRedisCommandExecutor,
  RedisServerState,
  resolveCompatibilityProfile,
  SocketConnectionTransport,
} from 'js-redis-server/core'

/**
 * Serves the in-memory Redis on a Unix socket, in this process. This function composes the package's parts,
 * since the package's own server takes no path and binds every interface. Resolves when the server listens;
 * the process should have no other work.
 */
export function serveInMemoryRedis(socketPath: string): Promise<{ close(): Promise<void> }> {
  const compatibility = resolveCompatibilityProfile(undefined)
  const state = new RedisServerState({ databaseCount: 1, compatibility })
  const executor = createRedisCommandExecutor({ compatibility })
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    attachSession(new SocketConnectionTransport(socket), { state, executor, clientAddress: '127.0.0.1:0' })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => {
      server.off('error', reject)
      resolve({ close: () => new Promise((done) => server.close(() => done())) })
    })
  })
}
