import { Command, Help, type Option } from 'commander'
import { nearest } from '../../../schemas/nearest.ts'
import { commandName, hasColour } from '../../config.ts'
import { inTone } from './colour.ts'
import { examplesOf } from './examples.ts'
import { headingOf, inOrder } from './headings.ts'

/** Colors and the verb `help`; to be called before verbs are added, which inherit the colors. */
export function configureHelp(program: Command): void {
  program
    .configureOutput({
      getOutHasColors: () => hasColour(process.stdout),
      getErrHasColors: () => hasColour(process.stderr),
      outputError: (text, write) => {
        write(hasColour(process.stderr) ? text.replace(/^error:/, (word) => inTone(word, 'bad')) : text)
        write(elsewhere(program, text))
      },
    })
    .configureHelp({ styleTitle: (title) => inTone(title, 'strong') })
    .addHelpCommand(helpVerb())
  program.createHelp = () => Object.assign(new OrderedHelp(), program.configureHelp())
}

/** The help of the program: verbs and their headings in the order of the headings, not of loading. */
class OrderedHelp extends Help {
  override visibleCommands(command: Command): Command[] {
    return inOrder(super.visibleCommands(command))
  }

  override groupItems<T extends Command | Option>(
    _unsorted: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    return super.groupItems(visible, visible, groupOf)
  }
}

/** Puts each verb under its heading, and its examples into its help. */
export function addHelpTexts(program: Command): void {
  for (const verb of program.commands) {
    const heading = headingOf(verb.name())
    if (heading !== null) verb.helpGroup(heading)
    addExamples(verb, verb.name())
  }
}

/** Verbs that an error about an unknown verb names. Decision. */
const VERBS_NAMED_MAX = 5

/** A line about the verbs of other groups that have the name of an unknown verb; empty where there is none. */
function elsewhere(program: Command, error: string): string {
  const [, word] = /^error: unknown command '([^']+)'/.exec(error) ?? []
  const paths = word === undefined ? [] : pathsTo(program, word)
  if (paths.length === 0) return ''
  const names = paths.slice(0, VERBS_NAMED_MAX).map((path) => `\`${commandName()} ${path}\``)
  return `Similar commands: ${names.join(', ')}${paths.length > VERBS_NAMED_MAX ? ' and more' : ''}.\n`
}

function pathsTo(command: Command, word: string, path = ''): readonly string[] {
  return command.commands.flatMap((verb) => {
    const own = `${path} ${verb.name()}`.trimStart()
    return [...(verb.name() === word ? [own] : []), ...pathsTo(verb, word, own)]
  })
}

function helpVerb(): Command {
  const verb = new Command('help')
    .argument('[verb...]')
    .description('show help for a command')
    .helpOption(false)
  return verb.helpGroup(headingOf('help') ?? '')
}

/**
 * Shows the help of the verb that the words name, which may be of a group: commander's own verb `help` reads
 * one word. Throws CommanderError, as each help does.
 */
export function showHelp(program: Command, words: readonly string[]): never {
  let verb: Command = program
  for (const word of words.filter((one) => one !== 'help' && !one.startsWith('-'))) {
    if (verb.commands.length === 0) break
    const below = verb.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (below === undefined) {
      const near = nearest(
        word,
        verb
          .createHelp()
          .visibleCommands(verb)
          .map((one) => one.name()),
      )
      const hint = near.length === 0 ? '' : `\n(Did you mean ${near.join(' or ')}?)`
      verb.error(`error: unknown command '${word}'${hint}`, { exitCode: 2 })
    }
    verb = below
  }
  verb.help()
}

function addExamples(verb: Command, path: string): void {
  const examples = examplesOf(path)
  if (examples.length > 0) {
    const lines = (): readonly string[] => examples.map((example) => `  ${commandName()} ${example}`)
    verb.addHelpText('after', () => `\n${inTone('Examples:', 'strong')}\n${lines().join('\n')}`)
  }
  for (const below of verb.commands) addExamples(below, `${path} ${below.name()}`)
}
