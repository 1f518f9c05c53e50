/** How the command lines of all scenarios are read; `tools/bench.mjs` reads them before it installs anything. */
import { parseArgs } from 'node:util'

/** Least value, most and default of each number. */
export type Numbers = Readonly<Record<string, readonly [number, number, number]>>
/** What may stand in each list. */
export type Lists = Readonly<Record<string, readonly string[]>>

export interface OptionShape<N extends Numbers, L extends Lists> {
  readonly numbers: N
  readonly lists: L
  readonly flags: readonly string[]
}

/** What was given, read one by one: each throws an Error that says in one line what is wrong. */
export interface Given<N extends Numbers, L extends Lists> {
  number(name: keyof N & string): number
  /** In the order of the shape. */
  some<K extends keyof L & string>(name: K, byDefault: readonly L[K][number][]): readonly L[K][number][]
  has(flag: string): boolean
  /** File for the report; null = a new one in `bench/results`. */
  readonly json: string | null
}

/** @returns what is wrong, in one line, instead of the options; 'help' when that is asked for */
export type ReadOptions<T> = (args: readonly string[]) => T | string

/** Every scenario also has `--json FILE` and `--help`. */
export function optionReader<const N extends Numbers, const L extends Lists, T>(
  shape: OptionShape<N, L>,
  make: (given: Given<N, L>) => T,
): ReadOptions<T> {
  const texts = [...Object.keys(shape.numbers), ...Object.keys(shape.lists), 'json']
  return (args) => {
    try {
      const { values } = parseArgs({
        args: [...args],
        options: {
          ...Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }])),
          ...Object.fromEntries(shape.flags.map((name) => [name, { type: 'boolean' as const }])),
          help: { type: 'boolean', short: 'h' },
        },
      })
      const words = values as Words
      return words['help'] === true ? 'help' : make(givenOf(shape, words))
    } catch (problem) {
      return (problem instanceof Error ? problem.message : String(problem)).split('\n')[0] ?? ''
    }
  }
}

type Words = Readonly<Record<string, string | boolean | undefined>>

function givenOf<N extends Numbers, L extends Lists>({ numbers, lists }: OptionShape<N, L>, words: Words): Given<N, L> {
  const { json } = words
  return {
    number: (name) => numberOf(name, numbers[name], words[name]),
    some(name, byDefault) {
      const text = words[name]
      return typeof text === 'string' ? someOf(name, lists[name] ?? [], text.split(',')) : byDefault
    },
    has: (flag) => words[flag] === true,
    json: typeof json === 'string' ? json : null,
  }
}

/** For the scenario itself; whoever starts it by hand is told in one line. */
export function optionsOrExit<T extends object>(args: readonly string[], read: ReadOptions<T>, help: string): T {
  const options = read(args)
  if (typeof options !== 'string') return options
  process.stderr.write(`${options === 'help' ? help : options}\n`)
  process.exit(options === 'help' ? 0 : 2)
}

/** Of a help text: each number with its default. */
export function numbersText(numbers: Numbers): string {
  return Object.entries(numbers).map(([name, [, , byDefault]]) => `--${name} ${byDefault}`).join(' ')
}

function numberOf(name: string, bounds: Numbers[string] = [0, 0, 0], text: string | boolean | undefined): number {
  const [least, most, byDefault] = bounds
  if (text === undefined) return byDefault
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`--${name} takes a whole number from ${least} to ${most}, not '${text}'`)
  }
  return value
}

function someOf<T extends string>(name: string, all: readonly T[], names: readonly string[]): readonly T[] {
  const unknown = names.find((one) => !all.some((known) => known === one))
  if (unknown !== undefined) throw new Error(`--${name} takes some of ${all.join(',')}, not '${unknown}'`)
  return all.filter((known) => names.includes(known))
}
