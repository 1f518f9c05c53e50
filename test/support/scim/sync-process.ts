/** A runner's syncs in a process of their own, to be killed: `node sync-process.js URL LEASE_MS`. */
import { startSyncs } from '../../../src/server/runner/scim/syncs.ts'
import { openSyncWork } from '../../../src/server/store/scim/sync-work.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import { SILENT } from '../log.ts'

const [url = '', leaseMs = ''] = process.argv.slice(2)
const store = openStore({ url, poolMax: 2, applicationName: 'sluice-doomed' })
startSyncs({ work: openSyncWork(store), log: SILENT, pollMs: 10, leaseMs: Number(leaseMs) })
