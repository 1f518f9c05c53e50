import { setTimeout as after } from 'node:timers/promises'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { monotonicMs } from '../../../support/load/load-plan.ts'
import { must } from '../../../support/must.ts'
import { CLI } from '../../../support/audit/audit.ts'
import type { Proof } from '../../proof.ts'
import { nameOf, prefixOf } from './seed.ts'
import { HOST, type RotationStand } from './stand.ts'

/** Writes a second while keys are replaced; the short form leaves the cores to the rotations. */
export const WRITES_PER_S = { full: 200, short: 15 }
/** In short so few that each is answered within its deadline on a slow machine. */
const WRITES_AT_ONCE = { full: 64, short: 4 }
/** Interns whose keys ask the egress route. */
const CALLERS = 16
/** Milliseconds between two reads of one reader. */
const READ_PAUSE_MS = { full: 4, short: 80 }

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
  const { interns } = traffic
  const beganAt = monotonicMs()
  const [counts, failedReads, failedWrites]: [Record<string, number>, string[], string[]] = [{}, [], []]
  let writes = 0
  let isOver = false
  const write = async (nth: number): Promise<void> => {
    const { internId, name } = placeOf(proof, traffic)
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
      counts[kind] = (counts[kind] ?? 0) + 1
      if (failed !== null) failedReads.push(`${kind}: ${failed}`)
      await after(proof.isShort ? READ_PAUSE_MS.short : READ_PAUSE_MS.full)
    }
  }
  const reads = readsOf({ proof, stand, traffic, callers: await callersOf(stand, interns) })
  const running = Promise.all([
    paced(proof, () => isOver, write),
    ...Object.entries(reads).map(([kind, read]) => reading(kind, read)),
  ])
  return {
    async stop() {
      isOver = true
      const seconds = (monotonicMs() - beganAt) / 1_000
      await running
      return { seconds, writes, reads: counts, failedReads, failedWrites }
    },
  }
}

/** An intern's secret. */
function placeOf(proof: Proof, { interns, secretsEach }: Traffic) {
  return { internId: interns[proof.random(interns.length)] ?? '', name: nameOf(proof.random(secretsEach)) }
}

interface ReadDeps {
  readonly proof: Proof
  readonly stand: RotationStand
  readonly traffic: Traffic
  readonly callers: Awaited<ReturnType<typeof callersOf>>
}

/** Reads by their kind; each returns the fault of its answer, or null. */
function readsOf({
  proof,
  stand,
  traffic,
  callers,
}: ReadDeps): Readonly<Record<string, () => Promise<string | null>>> {
  const { secretsEach, file } = traffic
  const release = stand.releaser()
  return {
    async egress() {
      const { internId, key } = callers[proof.random(callers.length)] ?? { internId: '', key: '' }
      const name = nameOf(proof.random(secretsEach))
      const headers = {
        'x-sluice-key': key,
        'x-token': `{{secret:${name}}}`,
        'x-want': prefixOf(internId, name).trim(),
      }
      const { status, text } = await stand.call('GET', `/egress/${HOST}:${stand.targetPort}/`, { headers })
      return status === 204 ? null : `${status} ${text}`
    },
    async release() {
      const { internId, name } = placeOf(proof, traffic)
      return (await release(internId, name))?.startsWith(prefixOf(internId, name)) === true
        ? null
        : `${internId}/${name}`
    },
    async file() {
      const { status, text } = await stand.call('GET', `/files/${file.id}/content`)
      return status === 200 && text === file.text ? null : `${status} ${text.slice(0, 200)}`
    },
    async list() {
      const { status, text } = await stand.call(
        'GET',
        `/vault/interns/${placeOf(proof, traffic).internId}/secrets`,
      )
      return status === 200 ? null : `${status} ${text}`
    },
  }
}

/** A write every few milliseconds; those that a slow moment held back follow, a bounded number at once. */
async function paced(
  { isShort }: Proof,
  isOver: () => boolean,
  write: (nth: number) => Promise<void>,
): Promise<void> {
  const how = isShort ? 'short' : 'full'
  const [perS, most] = [WRITES_PER_S[how], WRITES_AT_ONCE[how]]
  const [beganAt, underWay] = [monotonicMs(), new Set<Promise<void>>()]
  for (let nth = 1; !isOver();) {
    const due = Math.floor(((monotonicMs() - beganAt) / 1_000) * perS)
    for (; nth <= due && underWay.size < most; nth++) {
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
      const input = { internId, organizationId: stand.organizationId, name: 'prove' }
      return { internId, key: must(await createInternKey(stand.store, input, CLI)).key }
    }),
  )
}
