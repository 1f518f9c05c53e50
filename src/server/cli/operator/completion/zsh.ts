import { casesScript, quoted } from './cases.ts'
import { eachVerb, type OptionNode, type VerbNode } from './tree.ts'

/** A script for zsh, to be read with `source <(…)` or stored as `_sluice` in a folder of `fpath`. */
export function zshScript(tree: VerbNode): string {
  const verbs = eachVerb(tree)
  return casesScript(verbs, {
    head: ['#compdef sluice', '# Completion of sluice for zsh, made by `sluice completion zsh`.'],
    places: [
      '  verbs=() options=()',
      '  case "$1" in',
      ...verbs.map(
        (verb) =>
          `  ${quoted(verb.path)}) verbs=(${verb.verbs.map(described).join(' ')}) options=(${verb.options.flatMap(describedNames).join(' ')}) ;;`,
      ),
      '  esac',
    ],
    walk: WALK,
  })
}

/** A word with its description, which zsh shows beside it; the first colon ends the word. */
function described({ name, about }: { readonly name: string; readonly about: string }): string {
  return quoted(`${name}:${about}`)
}

function describedNames({ names, about }: OptionNode): readonly string[] {
  return names.map((name) => described({ name, about }))
}

/** `path` would be the shell's own variable: `at` has the words of the verb. */
const WALK = `_sluice() {
  local -a verbs options
  local takes='' values='' at='' option='' many='' word='' current=''
  local -i nth=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${(Q)words[i]}"
    if [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      many=''
      _sluice_option "$at" "$word"
      if [[ -n $takes ]]; then option=$word; fi
      if [[ $takes == many ]]; then many=$word; fi
    elif [[ -z $many ]]; then
      _sluice_at "$at"
      if [[ -n \${(M)verbs:#\${word}:*} ]]; then at="\${at:+$at }$word"; nth=0; else nth+=1; fi
    fi
  done
  values=''
  _sluice_at "$at"
  current="\${(Q)words[CURRENT]}"
  if [[ -z $option && $current == --*=* ]]; then
    option="\${current%%=*}"
    compset -P 1 '*='
  fi
  if [[ -n $option ]]; then
    _sluice_option "$at" "$option"
  elif [[ $current == -* ]]; then
    _describe option options
    return
  elif [[ -n $many ]]; then
    _sluice_option "$at" "$many"
  elif (( \${#verbs} )); then
    _describe verb verbs
    return
  else
    _sluice_argument "$at" "$nth"
    if [[ -z $values && -z $current ]]; then
      _describe option options
      return
    fi
  fi
  case "$values" in
  files) _files ;;
  folders) _files -/ ;;
  '='*) compadd -- \${(s: :)\${values#=}} ;;
  esac
}
if [[ \${funcstack[1]-} == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`
