import { startEmbeddedPostgres } from '../../../src/server/supervisor/postgres/embedded-postgres.ts'

/** A stand-in for the supervisor, to be killed: `postgres-host.js <data directory> <outside directory>`. */
const [dataDir = '', outsideDir = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
process.on('disconnect', () => process.exit())
const { url } = await startEmbeddedPostgres({ dataDir, outsideDir, log })
process.send?.(url)
