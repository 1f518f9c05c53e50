import type { Values, VerbNode } from './tree.ts'

/** Arms of a `case` over verb and option, for bash and zsh: how many words the option takes, and which. */
export function optionCases(verbs: readonly VerbNode[]): readonly string[] {
  return verbs.flatMap(({ path, options }) => options.filter(({ takes }) => takes !== 'nothing').map(({ names, takes, values }) =>
    `  ${names.map((name) => quoted(`${path} ${name}`)).join(' | ')}) takes=${takes} values=${coded(values)} ;;`))
}

/** Arms of a `case` over verb and number of the argument, from 0. */
export function argumentCases(verbs: readonly VerbNode[]): readonly string[] {
  return verbs.flatMap(({ path, places }) => places.flatMap((values, nth) =>
    (values === 'any' ? [] : [`  ${quoted(`${path} ${nth}`)}) values=${coded(values)} ;;`])))
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
