/** A process of its own whose transactions lose their backends again and again; it exits with 0 when it lives through that. */
import { openStore } from '../../src/server/store/open.ts'

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
  await new Promise((resolve) => setTimeout(resolve, 40))
  await killer.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost' AND datname = current_database()`
}
isEnding = true
await Promise.all(writers)
const [row] = await store.sql.begin((tx) => tx<{ n: number }[]>`SELECT 1 AS n`)
await Promise.all([store.close(), killer.close()])
process.exit(row?.n === 1 && rejected > 0 ? 0 : 2)
