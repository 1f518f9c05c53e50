import { serveInMemoryRedis } from './in-memory-redis.ts'

/**
 * Entry of the process of the in-memory Redis: `node redis-process.js <socket path>`, forked with an IPC
 * channel.
 */
const socketPath = process.argv[2]
if (socketPath === undefined) throw new Error('the path of the socket is missing')

// The supervisor may be killed without notice: the closing channel is the only sign that always comes.
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
if (process.send !== undefined && !process.connected) process.exit(0)
await serveInMemoryRedis(socketPath)
