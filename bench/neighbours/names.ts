/** What can be run by its name. */
import { ATTACKS, type RequestAttackName } from './attacks.ts'
import { FLOOD_ATTACKS, type FloodName } from './floods.ts'

export type AttackName = RequestAttackName | FloodName
export const ATTACK_NAMES: readonly AttackName[] = [
  ...(Object.keys(ATTACKS) as RequestAttackName[]),
  ...(Object.keys(FLOOD_ATTACKS) as FloodName[]),
]
/** Two organizations at a time, and one alone. */
export const SHARING = 'sharing'
export type CaseName = AttackName | typeof SHARING
export const CASE_NAMES: readonly CaseName[] = [...ATTACK_NAMES, SHARING]

export function isFlood(name: AttackName): name is FloodName {
  return Object.hasOwn(FLOOD_ATTACKS, name)
}

export function textOf(name: AttackName): string {
  return isFlood(name) ? FLOOD_ATTACKS[name].text : ATTACKS[name].text
}
