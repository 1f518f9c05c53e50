/**
 * Sluice on the rig: the whole node as `npm start` runs it, and the same modules without their governing
 * stages.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort, stopServer, untilListening } from '../test/support/nodes/spawned.ts'
import { PROVIDER_KEY, STAND_MODEL, type Stand } from '../test/support/nodes/stand.ts'
import { startForked } from './peers/forked.ts'
import type { Absent, Target } from './target.ts'
import type { UngovernedSettings } from './ungoverned.ts'

/** A node with one front, embedded stores, and an inference key without a rate limit. */
export function gatewayTarget(stand: Stand): Target {
  return {
    name: 'sluice',
    pid: stand.pid,
    port: stand.port,
    request: stand.embeddings(),
    note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis; key checks, limits, validation, metering',
    // The scenario ends the node together with its provider, which other subjects use too.
    stop: () => Promise.resolve(),
  }
}

const UNGOVERNED = fileURLToPath(new URL('./ungoverned.js', import.meta.url))

/** The same exchange, body reader and upstream, without access, limits, validation and metering. */
export async function startUngoverned(stand: Stand): Promise<Target | Absent> {
  if (!existsSync(UNGOVERNED)) return { name: 'sluice-ungoverned', absent: 'not built' }
  const port = await freePort()
  const settings: UngovernedSettings = {
    port,
    catalogFile: stand.catalogFile,
    model: STAND_MODEL,
    providerKey: PROVIDER_KEY,
  }
  const child = await startForked(UNGOVERNED, settings, { name: 'ungoverned pipeline' })
  await untilListening(port, { child, output: () => '' })
  return {
    name: 'sluice-ungoverned',
    pid: child.pid ?? 0,
    port,
    request: {
      method: 'POST',
      path: '/api/v1/embeddings',
      headers: { 'content-type': 'application/json' },
      body: stand.embeddings().body,
    },
    note: 'our own exchange, body reader, upstream call and reply, composed without access, limits, validation and metering',
    stop: () => stopServer(child),
  }
}
