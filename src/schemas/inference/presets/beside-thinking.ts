/** What Anthropic refuses together, where a preset of another form brings one and the request the other. D10. */
import { membersOf, type Members } from '../../values/members.ts'
import { TOP_P_MIN } from '../../../dialects/messages/thinking.ts'

/** Members of a request that decide on it. */
export const BESIDE_THINKING: readonly string[] = ['thinking', 'tool_choice', 'temperature', 'top_p', 'top_k']

export interface FittingFields {
  readonly fields: Members
  /** What the request wins over. */
  readonly dropped: readonly string[]
}

/**
 * @param fields of the preset, in the words of messages
 * @param own members of the request
 */
export function besideThinking(fields: Members, own: Members): FittingFields {
  const other = twoOfOne(fields, own)
  const rest = without(fields, other)
  const names = Object.keys(rest).filter((name) => !Object.hasOwn(own, name))
  const unfit = isOn(own['thinking']) ? names.filter((name) => isRefused(name, rest[name])) : []
  const isBarred = Object.entries(own).some(([name, value]) => isRefused(name, value))
  const barred = isBarred && isOn(rest['thinking']) && !Object.hasOwn(own, 'thinking') ? ['thinking'] : []
  return {
    fields: without(rest, [...unfit, ...barred]),
    dropped: [...other, ...unfit, ...barred.map(() => 'reasoning')],
  }
}

/** Newer models refuse more than one of the two. */
function twoOfOne(fields: Members, own: Members): readonly string[] {
  return ['temperature', 'top_p'].filter(
    (name, nth, both) => Object.hasOwn(fields, name) && Object.hasOwn(own, both[1 - nth] ?? ''),
  )
}

function isOn(thinking: unknown): boolean {
  const type = membersOf(thinking)['type']
  return type === 'enabled' || type === 'adaptive'
}

/** Whether Anthropic refuses the member beside thinking. */
function isRefused(name: string, value: unknown): boolean {
  switch (name) {
    case 'temperature':
      return value !== 1
    case 'top_p':
      return typeof value === 'number' && value < TOP_P_MIN
    case 'top_k':
      return true
    case 'tool_choice': {
      const { type } = membersOf(value)
      return type === 'any' || type === 'tool'
    }
  }
  return false
}

function without(fields: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
