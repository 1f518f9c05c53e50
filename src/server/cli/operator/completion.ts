import { Argument, type Command } from 'commander'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { treeOf, type VerbNode } from './completion/tree.ts'
import { zshScript } from './completion/zsh.ts'
import { addVerb, print } from '../parts/verb.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const SCRIPTS: Readonly<Record<Shell, (tree: VerbNode) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

const HOW = `
bash:  source <(sluice completion bash)                     in ~/.bashrc
zsh:   source <(sluice completion zsh)                      in ~/.zshrc, after compinit
fish:  sluice completion fish | source                      in ~/.config/fish/config.fish
`

/** `completion`: prints the script for the program with all verbs, so the program must have loaded every verb. */
export function addTo(program: Command): void {
  addVerb(program, 'completion', 'print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices([...SHELLS]))
    .addHelpText('after', HOW)
    .action((shell: Shell, options: { json?: boolean }) => {
      const script = SCRIPTS[shell](treeOf(program))
      print(options, { shell, script }, script.trimEnd())
    })
}
