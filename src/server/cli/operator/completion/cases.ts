import type { Values, VerbNode } from './tree.ts'

interface ScriptParts {
  readonly head: readonly string[]
  /** Statements that set the verbs and options of a place. */
  readonly places: readonly string[]
  /** The function that walks over the words, with its helper functions. */
  readonly walk: string
}

/** The script of bash or zsh: functions that list the words of each place, followed by the function that calls them. */
export function casesScript(verbs: readonly VerbNode[], { head, places, walk }: ScriptParts): string {
  const option = ["  takes='' values=''", '  case "$1 $2" in', ...optionCases(verbs), '  esac']
  const argument = ["  values=''", '  case "$1 $2" in', ...argumentCases(verbs), '  esac']
  const functions = [
    ['_sluice_at', places],
    ['_sluice_option', option],
    ['_sluice_argument', argument],
  ] as const
  return [...head, ...functions.flatMap(([name, lines]) => [`${name}() {`, ...lines, '}']), walk].join('\n')
}

/** Arms of a `case` over verb and option, for bash and zsh: the number of words that the option takes, and the words. */
function optionCases(verbs: readonly VerbNode[]): readonly string[] {
  return verbs.flatMap(({ path, options }) =>
    options
      .filter(({ takes }) => takes !== 'nothing')
      .map(
        ({ names, takes, values }) =>
          `  ${names.map((name) => quoted(`${path} ${name}`)).join(' | ')}) takes=${takes} values=${coded(values)} ;;`,
      ),
  )
}

/** Arms of a `case` over verb and index of the argument, from 0. */
function argumentCases(verbs: readonly VerbNode[]): readonly string[] {
  return verbs.flatMap(({ path, places }) =>
    places.flatMap((values, nth) =>
      values === 'any' ? [] : [`  ${quoted(`${path} ${nth}`)}) values=${coded(values)} ;;`],
    ),
  )
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Values as one word. A list begins with `=`, so that no word in it is taken for `files` or `folders`. */
function coded(values: Values): string {
  if (values === 'any') return "''"
  return typeof values === 'string' ? values : quoted(`=${values.join(' ')}`)
}
