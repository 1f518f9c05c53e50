/** What must hold when the dust has settled, whatever happened before. */
import { utimesSync } from 'node:fs'
import { heldBy, isClean, textOfDebris, type FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import type { Proof } from '../../proof.ts'

const SMALL_BYTES = 100_000
/** Older than any staging file that the sweep leaves alone. */
const LONG_AGO_S = 2 * 3_600

export interface Aftermath {
  readonly what: string
  /** True where the front itself could not undo it: then the leases run out and the sweep does. */
  readonly bySweep?: boolean
}

/** Nothing is left of any upload that did not succeed, nothing is held, and the next one works. */
export async function aftermath(
  proof: Proof,
  node: FileStand,
  { what, bySweep = false }: Aftermath,
): Promise<void> {
  if (bySweep) await sweepAll(node)
  await until('all is undone', async () => isClean(await node.debris()) && heldBy(node).length === 0).catch(
    () => undefined,
  )
  const debris = await node.debris()
  proof.check(`${what}: nothing is left`, isClean(debris), textOfDebris(debris))
  const held = heldBy(node)
  if (held.length > 0) proof.check(`${what}: no descriptor is leaked`, false, held.slice(0, 5).join(', '))
  const next = await node.upload(SMALL_BYTES)
  proof.check(`${what}: the next upload works`, next.status === 200, `${next.status} ${next.type}`)
  if (next.status === 200) await node.remove(String(next.body['id']))
}

/** As if their front had been away for longer than every grace. */
export async function sweepAll(node: FileStand): Promise<void> {
  await node.expireLeases()
  const then = Date.now() / 1_000 - LONG_AGO_S
  for (const path of node.staging()) {
    try {
      utimesSync(path, then, then)
    } catch (problem) {
      // A front that goes on may have removed it since.
      if ((problem as NodeJS.ErrnoException).code !== 'ENOENT') throw problem
    }
  }
  await node.sweep()
}
