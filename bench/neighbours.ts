/**
 * `npm run bench -- neighbours`: the effect of one organization's cheap attacks on the calls of another one.
 */
import { FRONT_BYTES_MAX } from '../src/schemas/operator/memory-limits.ts'
import type { LoadRequest } from '../test/support/load/load-plan.ts'
import { keepRecord, progress } from './keep-record.ts'
import { ATTACK_BYTES_PER_S, ATTACK_CONNECTIONS, ATTACKS, type Attack } from './neighbours/attacks.ts'
import { FLOOD_ATTACKS } from './neighbours/floods.ts'
import { measureAttack, measureFlood, victimCores, type AttackRepeat } from './neighbours/measure.ts'
import { isFlood, SHARING, type AttackName } from './neighbours/names.ts'
import { NEIGHBOURS_OPTIONS_TEXT, readNeighboursOptions } from './neighbours/options.ts'
import { attackChecks, attackNote, attackRows, latencyRatio, type AttackFound } from './neighbours/rows.ts'
import { measureSharing, sharingChecks, sharingRate, type SharingRepeat } from './neighbours/sharing.ts'
import { startNeighbours } from './neighbours/stand.ts'
import { clearUploads, perS, VICTIM_NAMES, VICTIM_PER_S, victimsFor } from './neighbours/victims.ts'
import { optionsOrExit } from './options.ts'

const WARM_UP_MS = 4_000

const options = optionsOrExit(process.argv.slice(2), readNeighboursOptions, NEIGHBOURS_OPTIONS_TEXT)
const durationMs = options.seconds * 1_000

progress('starting a node with two organizations')
const stand = await startNeighbours(options.fronts)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stand.stop().finally(() => process.exit(130)))
try {
  progress('warming')
  await victimsFor(stand, WARM_UP_MS)
  await clearUploads(stand)
  const found: AttackFound[] = []
  for (const name of options.only) if (name !== SHARING) found.push({ name, repeats: await repeatsOf(name) })
  await report(found, options.only.includes(SHARING) ? await sharing() : [])
} finally {
  await stand.stop()
}

async function repeatsOf(name: AttackName): Promise<readonly AttackRepeat[]> {
  const measure = await measurementOf(name)
  const coresOfVictims = await victimCores(stand, durationMs / 2)
  await clearUploads(stand)
  const repeats = []
  for (let nth = 0; nth < options.repeats; nth++) {
    const one = await measure(coresOfVictims)
    const ratios = VICTIM_NAMES.map(
      (victim) =>
        `${victim} ${latencyRatio(one, victim, 'p50').toFixed(2)} ${latencyRatio(one, victim, 'p99').toFixed(2)}`,
    ).join(', ')
    progress(
      `${name}, repeat ${nth + 1} of ${options.repeats}: p50 and p99 over the control: ${ratios}; front ${(one.frontBytes / 1e6).toFixed(0)} MB`,
    )
    repeats.push(one)
  }
  return repeats
}

async function measurementOf(name: AttackName): Promise<(coresOfVictims: number) => Promise<AttackRepeat>> {
  if (isFlood(name))
    return (coresOfVictims) => measureFlood(stand, FLOOD_ATTACKS[name], { durationMs, coresOfVictims })
  const attack: Attack = ATTACKS[name]
  const requests: readonly LoadRequest[] = await attack.requests(stand)
  return (coresOfVictims) => measureAttack(stand, { attack, requests, durationMs, coresOfVictims })
}

async function sharing(): Promise<readonly SharingRepeat[]> {
  const rate = await sharingRate(stand)
  const found: SharingRepeat[] = []
  for (let nth = 0; nth < options.repeats; nth++) {
    const one = await measureSharing(stand, rate, durationMs)
    progress(
      `sharing, repeat ${nth + 1} of ${options.repeats}: ${rate.perS} calls/s each, share ${one.share.toFixed(3)}, held alone ${one.heldAlone}`,
    )
    found.push(one)
  }
  return found
}

async function report(found: readonly AttackFound[], shared: readonly SharingRepeat[]): Promise<void> {
  await keepRecord(
    {
      scenario: 'neighbours',
      question:
        'what cheap attacks of one organization do to the calls of another one, against a burner of as much CPU',
      settings: {
        durationMs,
        repeats: options.repeats,
        fronts: options.fronts,
        attackConnections: ATTACK_CONNECTIONS,
        attackBytesPerS: ATTACK_BYTES_PER_S,
      },
      subjects: [
        {
          name: 'sluice',
          note: 'the whole node: supervisor, fronts, workers, runner, embedded Postgres and Redis',
        },
      ],
      absent: [],
      rows: found.flatMap(attackRows),
      ratios: [],
      curves: [],
      checks: [
        ...found.flatMap((one) => attackChecks(one, FRONT_BYTES_MAX)),
        ...(shared.length === 0 ? [] : sharingChecks(shared)),
      ],
      notes: [
        `an attack has at most ${ATTACK_CONNECTIONS} connections and ${ATTACK_BYTES_PER_S / 1e6} MB/s of requests`,
        `each kind of victim asks ${VICTIM_PER_S} times a second, that for large embeddings ${perS('large embeddings')} times`,
        ...found.map(attackNote),
      ],
    },
    options.json,
  )
}
