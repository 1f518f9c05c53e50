import { eachVerb, type OptionNode, type Values, type VerbNode } from './tree.ts'

/** A script for fish: a function that finds the place of the cursor, and a line for each word of a place. */
export function fishScript(tree: VerbNode): string {
  const verbs = eachVerb(tree)
  const below = verbs.slice(1).map(({ path }) => quoted(path.includes(' ') ? path : ` ${path}`))
  return [
    '# Completion of sluice for fish, made by `sluice completion fish`.',
    'function __sluice_is',
    '    set -l words (commandline -opc)',
    '    set -e words[1]',
    "    set -l at ''",
    '    set -l nth 0',
    '    set -l isValue 0',
    '    set -l many 0',
    '    for word in $words',
    '        if test $isValue = 1',
    '            set isValue 0',
    '            continue',
    '        end',
    '        switch $word',
    "            case '-*'",
    '                set many 0',
    '                switch "$at $word"',
    ...taking(verbs, 'one', 'set isValue 1'),
    ...taking(verbs, 'many', 'set isValue 1; set many 1'),
    '                end',
    "            case '*'",
    '                test $many = 1; and continue',
    '                switch "$at $word"',
    `                    case ${below.join(' ')}`,
    '                        set at (string trim -- "$at $word")',
    '                        set nth 0',
    "                    case '*'",
    '                        set nth (math $nth + 1)',
    '                end',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"; or return 1',
    '    test (count $argv) = 1; and return 0',
    '    test $many = 0 -a $nth = $argv[2]',
    'end',
    'complete -c sluice -e',
    'complete -c sluice -f',
    ...verbs.flatMap(linesOf),
    '',
  ].join('\n')
}

function taking(verbs: readonly VerbNode[], takes: OptionNode['takes'], then: string): readonly string[] {
  const names = verbs.flatMap((verb) =>
    verb.options
      .filter((option) => option.takes === takes)
      .flatMap((option) => option.names.map((name) => quoted(`${verb.path} ${name}`))),
  )
  return names.length === 0
    ? []
    : [`                    case ${names.join(' ')}`, `                        ${then}`]
}

function linesOf(verb: VerbNode): readonly string[] {
  const here = (nth?: number): string =>
    `complete -c sluice -n ${quoted(`__sluice_is ${quoted(verb.path)}${nth === undefined ? '' : ` ${nth}`}`)}`
  return [
    ...verb.verbs.map(({ name, about }) => `${here(0)} -a ${quoted(name)} -d ${quoted(about)}`),
    ...verb.options.map(
      (option) =>
        `${here()} ${option.names.map(nameOf).join(' ')}${valueOf(option)} -d ${quoted(option.about)}`,
    ),
    ...verb.places.flatMap((values, nth) => (values === 'any' ? [] : [`${here(nth)} ${offered(values)}`])),
  ]
}

function nameOf(name: string): string {
  return name.startsWith('--') ? `-l ${quoted(name.slice(2))}` : `-s ${quoted(name.slice(1))}`
}

function valueOf({ takes, values }: OptionNode): string {
  if (takes === 'nothing') return ''
  return values === 'any' ? ' -x' : ` -r ${offered(values)}`
}

function offered(values: Exclude<Values, 'any'>): string {
  if (values === 'files') return '-F'
  return `-f -a ${quoted(values === 'folders' ? '(__fish_complete_directories)' : values.join(' '))}`
}

/** A word in single quotes, in which fish has two escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
