import { startRedis } from '../../../src/server/supervisor/redis/redis-child.ts'

/** A stand-in for the supervisor, to be killed: `redis-host.js <data directory> [servers…]`. */
const [dataDir = '', ...servers] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
await startRedis({ dataDir, log, servers })
process.send?.('up')
