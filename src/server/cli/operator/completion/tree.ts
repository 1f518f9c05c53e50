import type { Argument, Command, Option } from 'commander'

/**
 * What may stand at a place of the command line: these words, names of files or folders, or what only the
 * user knows.
 */
export type Values = readonly string[] | 'files' | 'folders' | 'any'

export interface OptionNode {
  /** As they are typed: `-V`, `--version`. */
  readonly names: readonly string[]
  readonly about: string
  /** How many words behind it are its own. */
  readonly takes: 'nothing' | 'one' | 'many'
  readonly values: Values
}

export interface VerbNode {
  /** The words behind `sluice`, parted by spaces; empty for the program itself. */
  readonly path: string
  readonly name: string
  readonly about: string
  readonly verbs: readonly VerbNode[]
  readonly options: readonly OptionNode[]
  /** Of its arguments, in their order. */
  readonly places: readonly Values[]
}

/**
 * The verbs of a program and what each takes, as its own help lists them: what is hidden there is not here
 * either.
 */
export function treeOf(command: Command, path = ''): VerbNode {
  const help = command.createHelp()
  return {
    path,
    name: command.name(),
    about: lineOf(command.description()),
    verbs: help.visibleCommands(command).map((verb) => treeOf(verb, `${path} ${verb.name()}`.trim())),
    options: help.visibleOptions(command).map(optionOf),
    places: command.registeredArguments.map(valuesOf),
  }
}

/** The verb and all below it. */
export function eachVerb(tree: VerbNode): readonly VerbNode[] {
  return [tree, ...tree.verbs.flatMap(eachVerb)]
}

function optionOf(option: Option): OptionNode {
  const takesValue = option.required || option.optional
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    about: lineOf(option.description),
    takes: !takesValue ? 'nothing' : option.variadic ? 'many' : 'one',
    values: takesValue ? wordsOr(option.argChoices, /[<[]([^>\].]*)/.exec(option.flags)?.[1]) : [],
  }
}

function valuesOf(argument: Argument): Values {
  return wordsOr(argument.argChoices, argument.name())
}

/**
 * What an option or argument takes is told by its name in the help: `<file>`, `<copy>` of one, `<folder>`.
 */
function wordsOr(choices: readonly string[] | undefined, name: string | undefined): Values {
  if (choices !== undefined) return choices
  if (name === 'file' || name === 'copy') return 'files'
  return name === 'folder' ? 'folders' : 'any'
}

/** The scripts have a line for each. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
