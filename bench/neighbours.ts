/**
 * `npm run bench -- neighbours`: the effect of one organization's cheap attacks on the calls of another one.
 */
import { FRONT_BYTES_MAX } from '../src/schemas/operator/memory-limits.ts'
import type { LoadRequest } from '../test/support/load/load-plan.ts'
import { keepRecord, progress } from './keep-record.ts'
import { ATTACK_BYTES_PER_S, ATTACK_CONNECTIONS, ATTACKS, type Attack } from './neighbours/attacks.ts'
import { measureAttack, victimCores } from './neighbours/measure.ts'
import { NEIGHBOURS_OPTIONS_TEXT, readNeighboursOptions } from './neighbours/options.ts'
import { attackChecks, attackNote, attackRows, p99Ratio, type AttackFound } from './neighbours/rows.ts'
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
  for (const name of options.only) found.push({ name, repeats: await repeatsOf(name) })
  await report(found)
} finally {
  await stand.stop()
}

async function repeatsOf(name: AttackFound['name']): Promise<AttackFound['repeats']> {
  const attack: Attack = ATTACKS[name]
  const requests: readonly LoadRequest[] = await attack.requests(stand)
  const coresOfVictims = await victimCores(stand, durationMs / 2)
  await clearUploads(stand)
  const repeats = []
  for (let nth = 0; nth < options.repeats; nth++) {
    const one = await measureAttack(stand, { attack, requests, durationMs, coresOfVictims })
    const ratios = VICTIM_NAMES.map((victim) => `${victim} ${p99Ratio(one, victim).toFixed(2)}`).join(', ')
    progress(
      `${name}, repeat ${nth + 1} of ${options.repeats}: p99 over that beside a burner: ${ratios}; front ${(one.frontBytes / 1e6).toFixed(0)} MB`,
    )
    repeats.push(one)
  }
  return repeats
}

async function report(found: readonly AttackFound[]): Promise<void> {
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
      checks: found.flatMap((one) => attackChecks(one, FRONT_BYTES_MAX)),
      notes: [
        `an attack has at most ${ATTACK_CONNECTIONS} connections and ${ATTACK_BYTES_PER_S / 1e6} MB/s of requests`,
        `each kind of victim asks ${VICTIM_PER_S} times a second, that for large embeddings ${perS('large embeddings')} times`,
        ...found.map(attackNote),
      ],
    },
    options.json,
  )
}
