/**
 * Reads the command lines of all scenarios; `tools/bench.mjs` uses this module before it installs anything.
 */
import { parseArgs } from 'node:util'

/** Least value, most and default of each number. */
export type Numbers = Readonly<Record<string, readonly [number, number, number]>>
/** Least and most of each list of whole numbers, and the list when none is given. */
export type Counts = Readonly<Record<string, readonly [number, number, readonly number[]]>>
/** Possible values of each list. */
export type Lists = Readonly<Record<string, readonly string[]>>

export interface OptionShape<N extends Numbers, L extends Lists> {
  readonly numbers: N
  readonly lists: L
  readonly flags: readonly string[]
  readonly counts?: Counts
  /** Names of texts of any kind. */
  readonly words?: readonly string[]
}

/** Reads the given options; each method throws an Error that explains the fault in one line. */
export interface Given<N extends Numbers, L extends Lists> {
  number(name: keyof N & string): number
  /** Values in the order of the shape. */
  some<K extends keyof L & string>(name: K, byDefault: readonly L[K][number][]): readonly L[K][number][]
  has(flag: string): boolean
  /** Ascending, without repeats. */
  counts(name: string): readonly number[]
  /** Null when absent. */
  word(name: string): string | null
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

export interface ReadOptions<T> {
  /** @returns the fault in one line instead of the options; 'help' for a request of help */
  (args: readonly string[]): T | string
  /** Names of options with a value, without their dashes. */
  readonly texts: readonly string[]
  readonly flags: readonly string[]
  /** Possible values of each list. */
  readonly lists: Lists
}

/** Another name for the same option. */
const SAME_AS: Readonly<Record<string, string>> = { json: 'record' }
/** Option whose value may end in KB or MB. */
const SIZE = 'payload'

/** Reads options. Every scenario also has `--record FILE` and `--help`. */
export function optionReader<const N extends Numbers, const L extends Lists, T>(
  shape: OptionShape<N, L>,
  make: (given: Given<N, L>) => T,
): ReadOptions<T> {
  const texts = [
    ...Object.keys(shape.numbers),
    ...Object.keys(shape.lists),
    ...Object.keys(shape.counts ?? {}),
    ...(shape.words ?? []),
    'record',
    ...Object.keys(SAME_AS),
  ]
  const read = (args: readonly string[]): T | string => {
    try {
      const { values } = parseArgs({
        args: [...args],
        options: {
          ...Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }])),
          ...Object.fromEntries(shape.flags.map((name) => [name, { type: 'boolean' as const }])),
          help: { type: 'boolean', short: 'h' },
        },
      })
      const words: Words = Object.fromEntries(
        Object.entries(values as Words).map(([name, value]) => [SAME_AS[name] ?? name, value]),
      )
      return words['help'] === true ? 'help' : make(givenOf(shape, words))
    } catch (problem) {
      return (problem instanceof Error ? problem.message : String(problem)).split('\n')[0] ?? ''
    }
  }
  return Object.assign(read, { texts, flags: shape.flags, lists: shape.lists })
}

type Words = Readonly<Record<string, string | boolean | undefined>>

function givenOf<N extends Numbers, L extends Lists>(
  { numbers, lists, counts = {} }: OptionShape<N, L>,
  words: Words,
): Given<N, L> {
  const { record } = words
  return {
    number: (name) => numberOf(name, numbers[name], words[name]),
    some(name, byDefault) {
      const text = words[name]
      return typeof text === 'string' ? someOf(name, lists[name] ?? [], text.split(',')) : byDefault
    },
    has: (flag) => words[flag] === true,
    counts: (name) => countsOf(name, counts[name], words[name]),
    word: (name) => textOf(words[name]),
    json: fileOf(record),
  }
}

function textOf(word: string | boolean | undefined): string | null {
  return typeof word === 'string' && word !== '' ? word : null
}

function fileOf(word: string | boolean | undefined): string | null {
  if (word === '') throw new Error("--record takes a file, not ''")
  return textOf(word)
}

/** Reads the options of a scenario that runs by itself; prints a fault in one line and exits. */
export function optionsOrExit<T extends object>(
  args: readonly string[],
  read: ReadOptions<T>,
  help: string,
): T {
  const options = read(args)
  if (typeof options !== 'string') return options
  process.stderr.write(`${options === 'help' ? help : options}\n`)
  process.exit(options === 'help' ? 0 : 2)
}

/** Part of a help text: each number with its default. */
export function numbersText(numbers: Numbers): string {
  return Object.entries(numbers)
    .map(([name, [, , byDefault]]) => `--${name} ${byDefault}`)
    .join(' ')
}

function numberOf(
  name: string,
  bounds: Numbers[string] = [0, 0, 0],
  text: string | boolean | undefined,
): number {
  const [least, most, byDefault] = bounds
  if (text === undefined) return byDefault
  const value = numeral(name, String(text))
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`--${name} takes a whole number from ${least} to ${most}, not '${text}'`)
  }
  return value
}

function numeral(name: string, text: string): number {
  const [, digits = text, unit = ''] = /^(\d+)(KB|MB)?$/i.exec(text) ?? []
  if (unit === '') return Number(digits)
  return name === SIZE ? Number(digits) * (unit.toUpperCase() === 'MB' ? 1e6 : 1e3) : Number.NaN
}

function countsOf(
  name: string,
  bounds: Counts[string] = [0, 0, []],
  text: string | boolean | undefined,
): readonly number[] {
  const [least, most, byDefault] = bounds
  if (typeof text !== 'string') return byDefault
  const found = text.split(',').map((one) => numberOf(name, [least, most, least], one))
  return [...new Set(found)].sort((a, b) => a - b)
}

function someOf<T extends string>(name: string, all: readonly T[], names: readonly string[]): readonly T[] {
  const unknown = names.find((one) => !all.some((known) => known === one))
  if (unknown !== undefined) throw new Error(`--${name} takes some of ${all.join(',')}, not '${unknown}'`)
  return all.filter((known) => names.includes(known))
}
