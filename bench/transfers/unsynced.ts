/**
 * Loaded before everything else into a node whose writes are to stay in the page cache: nginx and the other
 * servers do not bring a file to the disk before they answer, so beside them stands what the rest of our work
 * costs.
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
