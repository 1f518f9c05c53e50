/** Words of a command line that select something other than scenarios by name. */
import { parseArgs } from 'node:util'
import { SCENARIOS, type Scenario } from '../scenarios.ts'
import { optionsOf } from './command.ts'

/**
 * `--target` turns scenarios into loads of a running deployment, with `--stream` into loads of its streams, and
 * `--sweep` turns them into mixes for which worker counts are found. The names may stand anywhere among the
 * options.
 */
export function routed(
  given: readonly string[],
  scenarios: readonly Scenario[] = SCENARIOS,
): readonly string[] {
  const options = { ...optionsOf(scenarios), sweep: { type: 'boolean' as const } }
  const { tokens } = parseArgs({
    args: [...given],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const has = (name: string): boolean => tokens.some((one) => one.kind === 'option' && one.name === name)
  const name = has('sweep') ? 'sweep' : has('stream') ? 'streams' : has('target') ? 'deployment' : null
  if (name === null) return given
  const taken = new Set(
    tokens
      .filter((one) => one.kind === 'positional' || (one.kind === 'option' && one.name === 'sweep'))
      .map(({ index }) => index),
  )
  const names = tokens.flatMap((one) => (one.kind === 'positional' && one.value !== name ? [one.value] : []))
  const only = names.length === 0 ? [] : ['--only', names.join(',')]
  return [name, ...only, ...given.filter((_, at) => !taken.has(at))]
}
