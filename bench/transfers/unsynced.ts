/**
 * Loaded before all other modules into a node whose writes stay in the page cache: nginx and the other
 * servers do not sync a file before they answer, so that this variant shows the cost of the rest of Sluice's
 * work.
 */
import { open } from 'node:fs/promises'

const handle = await open(process.execPath, 'r')
const prototype = Object.getPrototypeOf(handle) as {
  sync: () => Promise<void>
  datasync: () => Promise<void>
}
await handle.close()
prototype.sync = () => Promise.resolve()
prototype.datasync = () => Promise.resolve()
