import { setTimeout as after } from 'node:timers/promises'
import { createInternKey } from '../../../../src/server/store/keys/api-keys.ts'
import { monotonicMs } from '../../../support/load/load-plan.ts'
import { must } from '../../../support/must.ts'
import { CLI } from '../../../support/audit/audit.ts'
import type { Proof } from '../../proof.ts'
import { nameOf, prefixOf } from './seed.ts'
import { HOST, type RotationStand } from './stand.ts'

/** Writes a second while keys are replaced; the short form leaves the cores to the rotations. */
export const WRITES_PER_S = { full: 200, short: 40 }
const WRITES_AT_ONCE = 64
/** Interns whose keys ask the egress route. */
const CALLERS = 16
/** Milliseconds between two reads of one reader. */
const READ_PAUSE_MS = { full: 4, short: 25 }

export interface Tally {
  readonly seconds: number
  readonly writes: number
  readonly reads: Readonly<Record<string, number>>
  /** One line each, of the first. */
  readonly failedReads: readonly string[]
  readonly failedWrites: readonly string[]
}

interface Traffic {
  readonly interns: readonly string[]
  readonly secretsEach: number
  /** A sealed file with its content. */
  readonly file: { readonly id: string; readonly text: string }
}

/** Writes at their pace and reads of every kind, until `stop`. */
export async function startTraffic(
  proof: Proof,
  stand: RotationStand,
  traffic: Traffic,
): Promise<{ stop(): Promise<Tally> }> {
  const { interns, secretsEach, file } = traffic
  const beganAt = monotonicMs()
  const [reads, failedReads, failedWrites]: [Record<string, number>, string[], string[]] = [{}, [], []]
  let writes = 0
  let isOver = false
  const place = () => ({
    internId: interns[proof.random(interns.length)] ?? '',
    name: nameOf(proof.random(secretsEach)),
  })
  const write = async (nth: number): Promise<void> => {
    const { internId, name } = place()
    const body = JSON.stringify({ hosts: [HOST], value: `${prefixOf(internId, name)}${nth}` })
    const path = `/vault/interns/${internId}/secrets/${name}`
    const { status, text } = await stand
      .call('PUT', path, { body })
      .catch(() => ({ status: 0, text: 'no answer' }))
    writes++
    if (status !== 200) failedWrites.push(`${status} ${text}`)
  }
  const reading = async (kind: string, read: () => Promise<string | null>): Promise<void> => {
    while (!isOver) {
      const failed = await read().catch((problem: unknown) => String(problem))
      reads[kind] = (reads[kind] ?? 0) + 1
      if (failed !== null) failedReads.push(`${kind}: ${failed}`)
      await after(proof.isShort ? READ_PAUSE_MS.short : READ_PAUSE_MS.full)
    }
  }
  const release = stand.releaser()
  const callers = await callersOf(stand, interns)
  const running = Promise.all([
    paced(proof.isShort ? WRITES_PER_S.short : WRITES_PER_S.full, () => isOver, write),
    reading('egress', async () => {
      const { internId, key } = callers[proof.random(callers.length)] ?? { internId: '', key: '' }
      const name = nameOf(proof.random(secretsEach))
      const headers = {
        'x-sluice-key': key,
        'x-token': `{{secret:${name}}}`,
        'x-want': prefixOf(internId, name).trim(),
      }
      const { status, text } = await stand.call('GET', `/egress/${HOST}:${stand.targetPort}/`, { headers })
      return status === 204 ? null : `${status} ${text}`
    }),
    reading('release', async () => {
      const { internId, name } = place()
      return (await release(internId, name))?.startsWith(prefixOf(internId, name)) === true
        ? null
        : `${internId}/${name}`
    }),
    reading('file', async () => {
      const { status, text } = await stand.call('GET', `/files/${file.id}/content`)
      return status === 200 && text === file.text ? null : `${status} ${text.slice(0, 200)}`
    }),
    reading('list', async () => {
      const { status, text } = await stand.call('GET', `/vault/interns/${place().internId}/secrets`)
      return status === 200 ? null : `${status} ${text}`
    }),
  ])
  return {
    async stop() {
      isOver = true
      const seconds = (monotonicMs() - beganAt) / 1_000
      await running
      return { seconds, writes, reads, failedReads, failedWrites }
    },
  }
}

/** A write every few milliseconds; those that a slow moment held back follow, a bounded number at once. */
async function paced(
  perS: number,
  isOver: () => boolean,
  write: (nth: number) => Promise<void>,
): Promise<void> {
  const [beganAt, underWay] = [monotonicMs(), new Set<Promise<void>>()]
  for (let nth = 1; !isOver();) {
    const due = Math.floor(((monotonicMs() - beganAt) / 1_000) * perS)
    for (; nth <= due && underWay.size < WRITES_AT_ONCE; nth++) {
      const one = write(nth).finally(() => underWay.delete(one))
      underWay.add(one)
    }
    await after(5)
  }
  await Promise.all(underWay)
}

async function callersOf(
  stand: RotationStand,
  interns: readonly string[],
): Promise<readonly { readonly internId: string; readonly key: string }[]> {
  const step = Math.max(1, Math.floor(interns.length / CALLERS))
  const chosen = interns.filter((_, nth) => nth % step === 0).slice(0, CALLERS)
  return Promise.all(
    chosen.map(async (internId) => {
      const input = {
        internId,
        organizationId: stand.organizationId,
        name: 'prove',
        rateLimitRpm: null,
        expiresAt: null,
      }
      return { internId, key: must(await createInternKey(stand.store, input, CLI)).key }
    }),
  )
}
