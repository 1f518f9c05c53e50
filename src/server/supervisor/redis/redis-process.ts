import { createServer } from 'node:net'
import {
  attachSession,
  createRedisCommandExecutor,
  RedisServerState,
  resolveCompatibilityProfile,
  SocketConnectionTransport,
} from 'js-redis-server/core'

/** Entry of the process of the in-memory Redis: `node redis-process.js <socket path>`, forked with an IPC channel. */
const socketPath = process.argv[2]
if (socketPath === undefined) throw new Error('the path of the socket is missing')

// The supervisor may be killed without notice: the closing channel is the only sign that always comes.
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
if (process.send !== undefined && !process.connected) process.exit(0)
await serveInMemoryRedis(socketPath)

/**
 * Serves the in-memory Redis on a Unix socket, in this process. This function composes the package's parts,
 * since the package's own server takes no path and binds every interface. Resolves when the server listens;
 * the process should have no other work.
 */
function serveInMemoryRedis(socketPath: string): Promise<{ close(): Promise<void> }> {
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
