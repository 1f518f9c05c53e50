import { casesScript, quoted } from './cases.ts'
import { eachVerb, type OptionNode, type VerbNode } from './tree.ts'

/**
 * A script for bash from 3.2 on. Its functions list the words of each place; the last function walks over the
 * words before the cursor, since only the verb decides which words belong to options.
 */
export function bashScript(tree: VerbNode): string {
  const verbs = eachVerb(tree)
  return casesScript(verbs, {
    head: ['# Completion of sluice for bash, made by `sluice completion bash`.'],
    places: [
      '  case "$1" in',
      ...verbs.map(
        (verb) =>
          `  ${quoted(verb.path)}) verbs=${listOf(verb.verbs.map(({ name }) => name))} options=${listOf(namesOf(verb.options))} ;;`,
      ),
      '  esac',
    ],
    walk: WALK,
  })
}

function namesOf(options: readonly OptionNode[]): readonly string[] {
  return options.flatMap(({ names }) => names)
}

function listOf(words: readonly string[]): string {
  return quoted(words.join(' '))
}

/** bash also splits words at `=` and `:`: the text after them continues the word before. */
const WALK = `_sluice() {
  local verbs='' options='' takes='' values='' at='' option='' many='' word='' name=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local -i nth=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == [=:]* ]]; then
      [[ -n $option ]] && continue
      i+=1
      if ((i == COMP_CWORD)); then return; fi
    elif [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      many=''
      _sluice_option "$at" "$word"
      if [[ -n $takes ]]; then option=$word; fi
      if [[ $takes == many ]]; then many=$word; fi
    elif [[ -z $many ]]; then
      verbs=''
      _sluice_at "$at"
      if [[ " $verbs " == *" $word "* ]]; then at="\${at:+$at }$word" nth=0; else nth+=1; fi
    fi
  done
  values='' verbs='' options=''
  _sluice_at "$at"
  if [[ $current == [=:]* ]]; then
    if [[ -z $option ]]; then return; fi
    current=''
  fi
  if [[ -n $option ]]; then
    _sluice_option "$at" "$option"
  elif [[ $current == -* ]]; then
    values="=$options"
  elif [[ -n $many ]]; then
    _sluice_option "$at" "$many"
  elif [[ -n $verbs ]]; then
    values="=$verbs"
  else
    _sluice_argument "$at" "$nth"
    if [[ -z $values && -z $current ]]; then values="=$options"; fi
  fi
  case "$values" in
  files) while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$current") ;;
  folders) while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -d -- "$current") ;;
  =*) while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -W "\${values#=}" -- "$current") ;;
  esac
  case "$values" in files | folders) compopt -o filenames 2>/dev/null || true ;; esac
}
complete -F _sluice sluice
`
