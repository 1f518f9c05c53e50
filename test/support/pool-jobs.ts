/** Jobs for a pool of worker threads. */
import type { ShortJobs } from '../../src/server/ports/short-jobs.ts'
import { callerBy } from './keys/callers.ts'

export const bytesOf = (input: string): Uint8Array<ArrayBuffer> => {
  const text = Buffer.from(JSON.stringify({ model: 'm', input }))
  return Uint8Array.from(text)
}
/** Of one job, for tests that are not about how long one may take: a slow machine takes its time. */
export const UNHURRIED_MS = 2 ** 30
export const BY = { caller: callerBy('k') }
export const job = (chars = 10) => ({ body: 'embeddings', bytes: bytesOf('x'.repeat(chars)) }) as const

const FACTS = { name: 'A', hosts: ['a.example'], version: '1' }
export const secretJob = () => ({
  vault: { vaultId: 'v', workspaceId: 'w' },
  facts: FACTS,
  sealed: new Uint8Array(100),
  sealingKey: new Uint8Array(32),
})
/** Both threads have loaded their code. */
export const warm = (jobs: ShortJobs) =>
  Promise.all([jobs.run('read_body', job(), BY), jobs.run('open_secret', secretJob(), BY)])
