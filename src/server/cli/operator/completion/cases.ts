import type { Values, VerbNode } from './tree.ts'

interface ScriptParts {
  readonly head: readonly string[]
  /** Statements that tell the verbs and options of a place. */
  readonly places: readonly string[]
  /** What walks over the words, with the functions before it. */
  readonly walk: string
}

/** The script of bash or zsh: functions that tell what stands at a place, and behind them what asks them. */
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

/** Arms of a `case` over verb and option, for bash and zsh: how many words the option takes, and which. */
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

/** Arms of a `case` over verb and number of the argument, from 0. */
function argumentCases(verbs: readonly VerbNode[]): readonly string[] {
  return verbs.flatMap(({ path, places }) =>
    places.flatMap((values, nth) =>
      values === 'any' ? [] : [`  ${quoted(`${path} ${nth}`)}) values=${coded(values)} ;;`],
    ),
  )
}

/** One word for bash and zsh, whatever it holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Words have a sign before them, so that none of them is taken for the other two. */
function coded(values: Values): string {
  if (values === 'any') return "''"
  return typeof values === 'string' ? values : quoted(`=${values.join(' ')}`)
}
