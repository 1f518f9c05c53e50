import type { Argument, Command, Option } from 'commander'

/** Possible values at a place of the command line: a list of words, names of files or folders, or any text of the user. */
export type Values = readonly string[] | 'files' | 'folders' | 'any'

export interface OptionNode {
  /** Names as typed: `-V`, `--version`. */
  readonly names: readonly string[]
  readonly about: string
  /** Number of words that the option takes after its name. */
  readonly takes: 'nothing' | 'one' | 'many'
  readonly values: Values
}

export interface VerbNode {
  /** The words after `sluice`, separated by spaces; empty for the program itself. */
  readonly path: string
  readonly name: string
  readonly about: string
  readonly verbs: readonly VerbNode[]
  readonly options: readonly OptionNode[]
  /** Values of its arguments, in order. */
  readonly places: readonly Values[]
}

/** The verbs of a program with their options and arguments, as its own help lists them, without hidden ones. */
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

/** Values of an option or argument, from its name in the help: `<file>`, `<copy>` of a file, `<folder>`. */
function wordsOr(choices: readonly string[] | undefined, name: string | undefined): Values {
  if (choices !== undefined) return choices
  if (name === 'file' || name === 'copy') return 'files'
  return name === 'folder' ? 'folders' : 'any'
}

/** The text without line ends, since the scripts have one line for each text. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
