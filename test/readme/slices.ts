import { commandsOf, isRun, type Block } from './blocks.ts'
import type { Line } from './lines.ts'

/** Sections that show what another one has done. */
const BUILDS_ON: Readonly<Record<string, string>> = { 'Searching by API': 'API keys' }

/** Names of the shell that a text sets, or makes known to programs that it starts. */
function setBy(text: string): string[] {
  const set = [...text.matchAll(/(?:^|[\s;])([A-Za-z_]\w*)(?:=|\(\))/g)].map(([, name = '']) => name)
  return [...set, ...exportedBy(text)]
}

function exportedBy(text: string): string[] {
  return [...text.matchAll(/^export (.*)$/gm)].flatMap(([, names = '']) => names.split(' '))
}

function usesOf(text: string, functions: ReadonlySet<string>): Set<string> {
  const read = [...text.matchAll(/\$\{?(?!process\.env)([A-Za-z_]\w*)|process\.env\.(\w+)/g)].map(
    ([, name, member]) => name ?? member ?? '',
  )
  const called = [...functions].filter((name) => new RegExp(`(?:^|[\\s;(|])${name} `).test(text))
  return new Set([...read, ...called, ...exportedBy(text)])
}

function functionsOf(blocks: readonly Block[]): ReadonlySet<string> {
  return new Set(
    blocks.flatMap(({ text }) => [...text.matchAll(/^(\w+)\(\)/gm)].map(([, name = '']) => name)),
  )
}

/** Blocks of a section, and of one that it builds on, with what they need of the blocks before them. */
export function sectionOf(
  all: readonly Block[],
  section: string,
  changed: readonly [Block, Block] | null,
): Block[] {
  const run = all.filter(isRun)
  const own = run.filter((block) => block.section === section || block.section === BUILDS_ON[section])
  return withNeeded(run, own, changed)
}

/**
 * The block and the first one of another section that uses a name which the line sets; null when there is
 * none.
 */
export function usersOf(all: readonly Block[], line: Line, changed: Block): Block[] | null {
  const run = all.filter(isRun)
  const functions = functionsOf(run)
  const later = run.slice(run.indexOf(line.block) + 1).filter(({ section }) => section !== line.block.section)
  const users = setBy(line.text).flatMap(
    (name) => later.find(({ text }) => usesOf(text, functions).has(name)) ?? [],
  )
  return users.length === 0 ? null : withNeeded(run, [line.block, ...new Set(users)], [line.block, changed])
}

/**
 * @param changed a block, and the one that runs instead of it
 * @returns the chosen blocks, preceded by the commands of earlier blocks that set the names they use, in the
 * order of the text
 */
function withNeeded(
  run: readonly Block[],
  chosen: readonly Block[],
  changed: readonly [Block, Block] | null,
): Block[] {
  const functions = functionsOf(run)
  const needed: Block[] = []
  const wanted = new Set<string>()
  for (const block of [...run].reverse()) {
    const isChosen = chosen.includes(block)
    const here = changed !== null && block === changed[0] ? changed[1] : block
    const texts =
      here.language === 'sh' ? commandsOf(here).map(({ text }) => text) : isChosen ? [here.text] : []
    const kept: string[] = []
    for (const text of texts.reverse()) {
      const set = setBy(text).filter((name) => wanted.has(name))
      if (!isChosen && set.length === 0) continue
      kept.unshift(text)
      for (const name of set) wanted.delete(name)
      for (const name of usesOf(text, functions)) wanted.add(name)
    }
    if (isChosen) needed.unshift(here)
    else if (kept.length > 0) needed.unshift({ ...here, text: kept.join('\n') })
  }
  return needed
}
