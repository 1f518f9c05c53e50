/**
 * The calls of one organization beside an attack by another one, and beside processes that burn as much CPU.
 */
import { startLoad } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { tree } from '../../test/support/load/process-cpu.ts'
import { residentBytes } from '../../test/support/load/process-memory.ts'
import { startBurner } from '../transfers/burner.ts'
import { isFront } from '../transfers/gateway.ts'
import { ATTACK_BYTES_PER_S, ATTACK_CONNECTIONS, attackRate, type Attack } from './attacks.ts'
import { startFlood, type Flood } from './floods.ts'
import type { NeighboursStand } from './stand.ts'
import { startUnread } from './unread.ts'
import { clearUploads, victimsFor, type VictimResults } from './victims.ts'

/** Milliseconds until an attack runs at full speed, and after the victims' end. */
const HEAD_MS = 1_000
/** Milliseconds between two looks at the memory of the fronts. */
const MEMORY_LOOK_MS = 50

export interface AttackRepeat {
  readonly beside: VictimResults
  /** Beside what the attack is compared with: a burner of as much CPU, or the same read past Sluice. */
  readonly control: VictimResults
  /** Answers a second of the attack. */
  readonly attackPerS: number
  /** Counts by status; 0: no complete answer. */
  readonly attackStatuses: Readonly<Record<number, number>>
  /** Cores that the node used for the attack. */
  readonly attackCores: number
  /** The most resident bytes of all fronts in one look. */
  readonly frontBytes: number
}

/** CPU seconds a second of the node while it serves only its victims. */
export async function victimCores(stand: NeighboursStand, durationMs: number): Promise<number> {
  const before = nodeCpuS(stand)
  const beganAt = performance.now()
  await victimsFor(stand, durationMs)
  return (nodeCpuS(stand) - before) / ((performance.now() - beganAt) / 1_000)
}

export interface AttackInput {
  readonly attack: Attack
  readonly requests: readonly LoadRequest[]
  /** Milliseconds of the victims' load. */
  readonly durationMs: number
  /** Cores that the victims alone use. */
  readonly coresOfVictims: number
}

export async function measureAttack(stand: NeighboursStand, input: AttackInput): Promise<AttackRepeat> {
  const { durationMs, coresOfVictims } = input
  const stopAttack = await startAttack(stand, input)
  await delay(input.attack.headMs ?? HEAD_MS)
  const memory = watchFronts(stand)
  const [beganAt, before] = [performance.now(), nodeCpuS(stand)]
  const beside = await victimsFor(stand, durationMs)
  const cores = (nodeCpuS(stand) - before) / ((performance.now() - beganAt) / 1_000)
  const frontBytes = memory.stop()
  const { perS, statuses, generatorCores } = await stopAttack()
  await clearUploads(stand)
  const attackCores = Math.max(0, cores - coresOfVictims)
  const stops = [
    await startBurner({ cores: attackCores, isDetached: true }),
    await startBurner({ cores: generatorCores, isDetached: false }),
  ]
  await delay(HEAD_MS)
  const control = await victimsFor(stand, durationMs)
  for (const stop of stops) await stop()
  await clearUploads(stand)
  return { beside, control, attackPerS: perS, attackStatuses: statuses, attackCores, frontBytes }
}

/** Beside the calls to the attacker's own endpoint, and beside the same calls past Sluice. */
export async function measureFlood(
  stand: NeighboursStand,
  flood: Flood,
  { durationMs, coresOfVictims }: Omit<AttackInput, 'attack' | 'requests'>,
): Promise<AttackRepeat> {
  const stopPast = await startFlood(stand, flood, 'past')
  await delay(HEAD_MS)
  const control = await victimsFor(stand, durationMs)
  await stopPast()
  await clearUploads(stand)
  const stop = await startFlood(stand, flood, 'sluice')
  await delay(HEAD_MS)
  const memory = watchFronts(stand)
  const [beganAt, before] = [performance.now(), nodeCpuS(stand)]
  const beside = await victimsFor(stand, durationMs)
  const cores = (nodeCpuS(stand) - before) / ((performance.now() - beganAt) / 1_000)
  const frontBytes = memory.stop()
  const { statuses, ms } = await stop()
  await clearUploads(stand)
  const answers = Object.values(statuses).reduce((sum, n) => sum + n, 0)
  return {
    beside,
    control,
    attackPerS: answers / (ms / 1_000),
    attackStatuses: statuses,
    attackCores: Math.max(0, cores - coresOfVictims),
    frontBytes,
  }
}

interface AttackEnd {
  readonly perS: number
  readonly statuses: Readonly<Record<number, number>>
  readonly generatorCores: number
}

/** @returns a function that ends the attack */
async function startAttack(
  stand: NeighboursStand,
  { attack, requests, durationMs }: AttackInput,
): Promise<() => Promise<AttackEnd>> {
  const { port } = stand
  const [first] = requests
  if (attack.isUnread === true && first !== undefined) {
    const stop = startUnread({
      port,
      connections: ATTACK_CONNECTIONS,
      request: first,
      bytesPerS: ATTACK_BYTES_PER_S,
    })
    return async () => {
      stop()
      return { perS: 0, statuses: {}, generatorCores: 0 }
    }
  }
  const load = await startLoad({
    host: '127.0.0.1',
    port,
    connections: ATTACK_CONNECTIONS,
    requests,
    isInTurn: true,
    // Longer than the victims: the attack is stopped after they have ended.
    durationMs: 10 * (durationMs + HEAD_MS),
    pace: { kind: 'open', ratePerS: attackRate(attack, requests) },
    drainMs: 0,
  })
  return async () => {
    const { measuredMs, statuses, generatorCores } = await load.stop()
    const answers = Object.entries(statuses).reduce((sum, [status, n]) => (status === '0' ? sum : sum + n), 0)
    return { perS: answers / (measuredMs / 1_000), statuses, generatorCores }
  }
}

function nodeCpuS({ pid }: NeighboursStand): number {
  return tree(pid).reduce((sum, { cpuS }) => sum + cpuS, 0)
}

/** Measures the resident memory of the fronts until it is stopped. @returns the maximum */
function watchFronts({ pid }: NeighboursStand): { stop(): number } {
  let most = 0
  const look = (): void => {
    const bytes = tree(pid)
      .filter(isFront)
      .map((row) => residentBytes(row.pid))
    most = Math.max(most, ...bytes)
  }
  look()
  const timer = setInterval(look, MEMORY_LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      look()
      return most
    },
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
