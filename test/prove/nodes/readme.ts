/**
 * Every block of the README and of the pages for users runs, and without a line that a block needs the run
 * fails.
 */
import { blocksOf, type Block } from '../../readme/blocks.ts'
import { isShown, linesOf, withMistake, withoutLine, type Line } from '../../readme/lines.ts'
import { sectionOf, usersOf } from '../../readme/slices.ts'
import { startReader, type Reader } from '../../readme/stand.ts'
import { NO_OPENSSL } from '../../support/wire/certificate.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { USER_PAGES } from '../../support/pages.ts'
import type { Program, Proof } from '../proof.ts'

/** Lines of a short run. */
const SAMPLED = 3
/** Milliseconds on top of what a section takes: a loop that waits for what never comes is cut then. */
const PATIENCE_MS = 4_000
/** Milliseconds that a section may take by itself. */
const ALONE_MS_MAX = 120_000

/** State that a run that ended early may have left, by section, and the command that restores it. */
const PUT_RIGHT: Readonly<Record<string, string>> = {
  Interns: 'bin/sluice workspaces set default --programme on --vault-writes on',
}

export const program: Program = {
  text: 'every block of README and docs, then each of its lines taken out, or with a mistake in it: does the run fail?',
  async run(proof) {
    if (NO_OPENSSL !== false) {
      proof.skipped = NO_OPENSSL
      return
    }
    const blocks = USER_PAGES.flatMap(({ text, path }) => blocksOf(text, path))
    const reader = await startReader({ teardown: (done) => proof.after(async () => done()) })
    const { failures } = await reader.run(blocks)
    proof.check(
      'every block that is not marked works, in its order',
      failures.length === 0,
      failures.join('\n') || `${blocks.length} blocks`,
    )
    const lines = linesOf(blocks)
    await eachLine(proof, { reader, blocks, lines: proof.isShort ? sampled(proof, lines) : lines })
  },
}

function sampled(proof: Proof, lines: readonly Line[]): Line[] {
  return Array.from({ length: SAMPLED }, () => lines[proof.random(lines.length)]).filter(
    (line) => line !== undefined,
  )
}

interface Trial {
  readonly reader: Reader
  readonly blocks: readonly Block[]
  readonly lines: readonly Line[]
}

type Verdict = 'taken out' | 'mistaken' | 'neither'

async function eachLine(proof: Proof, trial: Trial): Promise<void> {
  const beganAt = monotonicMs()
  const took = await sectionsAlone(proof, trial)
  const verdicts = new Map<Line, Verdict>()
  for (const line of trial.lines) {
    const msMax = PATIENCE_MS + 2 * (took.get(line.block.section) ?? 0)
    const verdict = await verdictOf(trial, line, msMax)
    verdicts.set(line, verdict)
    await putRight(trial.reader, line.block)
    const reported = verdict === 'neither' ? 'UNNOTICED' : 'nothing below needs it, noticed when wrong'
    if (verdict !== 'taken out')
      proof.say(`${line.block.path}:${line.number}: ${reported}: ${line.text.slice(0, 100)}`)
  }
  const count = (wanted: Verdict): number =>
    [...verdicts.values()].filter((verdict) => verdict === wanted).length
  const missed = [...verdicts]
    .filter(([, verdict]) => verdict === 'neither')
    .map(([{ block, number, text }]) => `${block.path}:${number}: ${text}`)
  const [out, wrong] = [count('taken out'), count('mistaken')]
  const found = `${out} of ${verdicts.size} noticed when taken out, ${wrong} that nothing below needs noticed when wrong, ${missed.length} never`
  proof.check(
    'no line can be lost or wrong without the run failing',
    missed.length === 0,
    [found, ...missed].join('\n'),
  )
  proof.checkTimed(
    'all within ten minutes',
    monotonicMs() - beganAt <= 600_000,
    `${((monotonicMs() - beganAt) / 1_000).toFixed(0)} s`,
  )
}

/**
 * Each section must work by itself, else nothing follows from one that fails. @returns milliseconds that each
 * takes
 */
async function sectionsAlone(
  proof: Proof,
  { reader, blocks, lines }: Trial,
): Promise<ReadonlyMap<string, number>> {
  const took = new Map<string, number>()
  const failed: string[] = []
  for (const section of new Set(lines.map(({ block }) => block.section))) {
    const beganAt = monotonicMs()
    const { failures } = await reader.again(installed(sectionOf(blocks, section, null)), {
      msMax: ALONE_MS_MAX,
    })
    failed.push(...failures)
    took.set(section, monotonicMs() - beganAt)
  }
  proof.check(
    'each section works with what it needs of those before it',
    failed.length === 0,
    failed.join('\n') || `${took.size} sections`,
  )
  return took
}

async function verdictOf({ reader, blocks }: Trial, line: Line, msMax: number): Promise<Verdict> {
  const isInstall = /^npm install/.test(line.text)
  const fails = async (blocksOfRun: () => readonly Block[] | null): Promise<boolean> => {
    try {
      const run = blocksOfRun()
      if (run === null) return false
      return (
        (await reader.again(isInstall ? run : installed(run), { msMax, isInstalled: !isInstall })).failures
          .length > 0
      )
    } catch {
      // A block that cannot be run, or an answer that is not JSON.
      return true
    }
  }
  const isNoticed = async (changed: Block): Promise<boolean> =>
    (await fails(() => sectionOf(blocks, line.block.section, [line.block, changed]))) ||
    (await fails(() => usersOf(blocks, line, changed)))
  if (!isShown(line) && (await isNoticed(withoutLine(line)))) return 'taken out'
  return (await isNoticed(withMistake(line))) ? 'mistaken' : 'neither'
}

async function putRight(reader: Reader, block: Block): Promise<void> {
  const text = PUT_RIGHT[block.section]
  if (text !== undefined) await reader.again([{ ...block, text }])
}

/** What the first run installed stays. */
function installed(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => ({ ...block, text: block.text.replace(/^npm install .*$/gm, ':') }))
}
