import { commandsOf, without, type Block, type Command } from './blocks.ts'

/** A command that is taken out, with the blocks of one section and those that they build on. */
export interface Taking {
  readonly command: Command
  /** Without it. */
  readonly blocks: readonly Block[]
  /** With it. */
  readonly whole: readonly Block[]
}

/** Where a reader makes the first calls: what comes first is what all others build on. */
const SECTIONS = ['Start', 'Videos', 'Files', 'Vault', 'Looking into jobs, webhooks and storage']

/** Commands of the first calls, each taken out in turn; those that only show something are needed by none. */
export function takings(blocks: readonly Block[]): Taking[] {
  // Verbs take long to load, and what was installed stays.
  const shown = blocks.filter(({ mark, language, text }) => mark === null && language === 'sh' && !/bin\/sluice|npm install/.test(text))
  const scripts = blocks.filter(({ mark, language }) => mark === null && language === 'js')
  return SECTIONS.flatMap((section, at) => {
    const others = shown.filter((block) => block.section === SECTIONS[0])
    const own = shown.filter((block) => block.section === section)
    // What the first blocks set up is used by all that follow them.
    const used = at === 0 ? [...shown.filter((block) => SECTIONS.slice(1).includes(block.section)), ...scripts] : []
    const whole = at === 0 ? [...own, ...used] : [...others, ...own]
    return own.flatMap((block) =>
      commandsOf(block).filter(isNeeded).map((command) => ({
        command,
        whole,
        blocks: whole.map((each) => (each === block ? without(block, command) : each)),
      })),
    )
  })
}

/** It makes something that is used below, or answers what is shown below it. */
function isNeeded({ text, answer }: Command): boolean {
  return answer !== null || /^(?:\w+=|export |\w+\(\)|until |curl .*-o )/.test(text)
}

/** Some of them, the same for the same seed. */
export function sampleOf<T>(all: readonly T[], count: number, seed: number): T[] {
  const left = [...all]
  let state = seed >>> 0
  return Array.from({ length: Math.min(count, left.length) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return left.splice(state % left.length, 1)
  }).flat()
}
