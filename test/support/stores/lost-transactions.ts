/**
 * A process of its own whose transactions lose their backends again and again; it exits with 0 when it lives
 * through that.
 */
import { openStore } from '../../../src/server/store/base/open.ts'
import { pause } from '../wait.ts'

const ROUNDS = 15
const WRITERS = 6

const url = process.argv[2] ?? ''
const store = openStore({ url, poolMax: WRITERS, applicationName: 'lost' })
const killer = openStore({ url, poolMax: 1, applicationName: 'killer' })
let isEnding = false
let rejected = 0

const writers = Array.from({ length: WRITERS }, async () => {
  while (!isEnding) {
    const work = store.sql.begin(async (tx) => {
      await tx`SELECT 1`
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([tx`SELECT 2`, tx`SELECT pg_sleep(0.002)`])
      await tx`SELECT 3`
    })
    await work.catch(() => rejected++)
  }
})
for (let round = 0; round < ROUNDS; round++) {
  await pause(40)
  await killer.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost' AND datname = current_database()`
}
isEnding = true
await Promise.all(writers)
// The last of the ended ones may be heard of only now; every connection of the pool must then serve.
const served = async (): Promise<boolean> =>
  store.sql
    .begin((tx) => tx`SELECT 1`)
    .then(
      () => true,
      () => false,
    )
let rows: readonly boolean[] = []
for (let tries = 0; tries < 10 && !(rows.length > 0 && rows.every(Boolean)); tries++) {
  rows = await Promise.all(Array.from({ length: WRITERS }, served))
}
await Promise.all([store.close(), killer.close()])
process.exit(rows.every(Boolean) && rejected > 0 ? 0 : 2)
