import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Static, TObject, TSchema } from 'typebox'
import { textOf, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { fits } from '../../../schemas/fits.ts'
import { expectedBy } from '../../../schemas/issues.ts'
import { CliFailure } from './verb.ts'

/** Value of an option that removes a limit or a setting. */
export const NONE = 'none'
/** Limits of the model calls of a key or a workspace. */
export const CALL_LIMITS = {
  max_parallel: '--parallel <count>',
  rate_limit_tpm: '--tpm <count>',
  default_max_output_tokens: '--default-max-output <tokens>',
} as const
/** Null, which the parser of options cannot return. */
const REMOVED = Symbol('none')

interface MemberOption {
  readonly flags: string
  /** Replaces the description in the shape. */
  readonly about?: string
  /** Replaces the check by the shape. */
  readonly parse?: (text: string) => unknown
  /** False: the word for null is a value like any other. */
  readonly takesNone?: false
  /** The command line needs the option, although the shape does not need the member. */
  readonly isRequired?: boolean
}

type Named<S extends TObject> = { readonly [M in keyof Static<S>]?: string | MemberOption }

/** Options of a verb that are members of a shape. */
export interface ShapeOptions<T> {
  addTo(verb: Command): Command
  /** The members of the shape that the command line's options set. */
  from(options: object): T
  /** Returns the outcome unchanged. Throws CliFailure, with the name of the option, for an issue with a member that has an option. */
  named<V>(outcome: Outcome<V>): Outcome<V>
  /** The value of a check that depends only on the options: if it fails, the command line is bad usage. */
  usable<V>(outcome: Outcome<V>, command: Command): V
}

/**
 * Derives options from the shape of an operation's input: a member has its check, description, choices and
 * default in the shape; only its flags are given here.
 * @param none word that stands for null
 */
export function optionsOf<S extends TObject, const N extends Named<S>>(
  shape: S,
  named: N,
  none = NONE,
): ShapeOptions<Pick<Static<S>, keyof N & keyof Static<S>>> {
  const members = Object.entries<string | MemberOption | undefined>(named).map(([name, given]) => {
    const option = typeof given === 'object' ? given : { flags: given ?? '' }
    const parsed = new Option(option.flags)
    return { name, ...option, long: parsed.long ?? '', attribute: parsed.attributeName() }
  })
  const words = new Map(members.map(({ name, long }) => [name, long]))
  const isRequired = (name: string): boolean => shape.required?.includes(name) === true
  const issueText = ({ metadata }: Failure): string | null => {
    const issue = metadata?.issues?.[0]
    const long = words.get(issue?.path.slice(1) ?? '')
    if (issue === undefined || long === undefined) return null
    return `${long} ${issue.message}, expected ${inWords(issue.expected, { none: `${long} ${none}`, words })}`
  }
  return {
    addTo(verb) {
      for (const member of members) {
        const option = optionOf(shape.properties[member.name] ?? {}, member, { none, words })
        verb.addOption(option.makeOptionMandatory(member.isRequired ?? isRequired(member.name)))
      }
      return verb
    },
    from(options) {
      const values = members.flatMap(({ name, attribute }) => {
        const value: unknown = Reflect.get(options, attribute)
        return value === undefined ? [] : [[name, isRemoved(value) ? null : value] as const]
      })
      // The parsers have checked each value against its member.
      return Object.fromEntries(values) as Static<S>
    },
    named(outcome) {
      const text = outcome.ok ? null : issueText(outcome.failure)
      if (text !== null) throw new CliFailure(`${text}.`)
      return outcome
    },
    usable(outcome, command) {
      if (outcome.ok) return outcome.value
      const text = issueText(outcome.failure) ?? textOf(outcome.failure)
      return command.error(`error: ${text}`, { exitCode: 2 })
    },
  }
}

/** One `none` among several values stands for null. */
function isRemoved(value: unknown): boolean {
  return value === REMOVED || (Array.isArray(value) && value.includes(REMOVED))
}

/** Names on the command line. */
interface Words {
  readonly none: string
  /** Names of options, by the members of the shape. */
  readonly words: ReadonlyMap<string, string>
}

/** The parts of a shape from which an option is made. */
interface Shape {
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly TSchema[]
  readonly items?: TSchema
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly default?: unknown
}

function optionOf(schema: TSchema, { flags, about, parse, takesNone }: MemberOption, words: Words): Option {
  const { anyOf, default: byDefault, ...nullable }: Shape = schema
  const shape: Shape & TSchema = anyOf?.find((branch: Shape) => branch.type !== 'null') ?? schema
  const text = nullable.description ?? shape.description ?? ''
  const option = new Option(flags, about ?? inWords(text, words))
  if (!option.required) return option
  if (byDefault !== undefined) option.default(byDefault)
  if (parse !== undefined) return option.argParser(parse)
  const none = anyOf === undefined || takesNone === false ? null : words.none
  const choices = choicesOf(option.variadic ? (shape.items ?? {}) : shape)
  if (choices !== null) option.choices([...choices, ...(none === null ? [] : [none])])
  return option.variadic
    ? option.argParser(listCheck(shape, none))
    : option.argParser((text) => checked(text, shape, none))
}

function choicesOf({ type, enum: values }: Shape): readonly string[] | null {
  return type === 'boolean' ? ['on', 'off'] : (values?.map(String) ?? null)
}

/** Values separated by blanks, and of a list of choices by commas too. */
function listCheck({ items = {}, maxItems = Infinity, uniqueItems }: Shape, none: string | null) {
  const isOpen = choicesOf(items) === null
  return (text: string, before: readonly unknown[] = []): readonly unknown[] => {
    const given = (isOpen ? [text] : text.split(',')).map((one) => checked(one, items, none))
    const all = [...before, ...given]
    const values = uniqueItems === true ? [...new Set(all)] : all
    if (values.length > maxItems) throw new InvalidArgumentError(`Expected at most ${maxItems} values.`)
    return values
  }
}

function checked(text: string, schema: TSchema, none: string | null): unknown {
  if (text === none) return REMOVED
  const value = valueOf(text, schema)
  if (fits(schema, value)) return value
  const expected =
    choicesOf(schema)?.join(', ') ??
    expectedBy(schema)
      .replace(/^integer/, 'a whole number')
      .replace(/^number/, 'a number')
  throw new InvalidArgumentError(`Expected ${expected}${none === null ? '' : `, or ${none}`}.`)
}

/** How the command line writes numbers of each type. */
const NUMBERS: ReadonlyMap<string, RegExp> = new Map([
  ['integer', /^-?\d+$/],
  ['number', /^-?\d+(?:\.\d+)?$/],
])

function valueOf(text: string, { type }: Shape): unknown {
  if (type === 'boolean') return text === 'on' ? true : text === 'off' ? false : text
  return NUMBERS.get(String(type))?.test(text) === true ? Number(text) : text
}

/** Replaces members of a shape in a text by the options of the command line. */
function inWords(text: string, { none, words }: Words): string {
  return text
    .replace(/^Sluice extension: /, '')
    .replace(/^Returns only/, 'only')
    .replace(/`(\w+)`/g, (code, member: string) => words.get(member) ?? code)
    .replace(/\bnull for\b/gi, `${none}:`)
    .replace(/\bnull\b/gi, none)
    .replace(/\btrue\b/gi, 'on')
    .replace(/\bfalse\b/gi, 'off')
    .replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
    .replace(/\.$/, '')
}
