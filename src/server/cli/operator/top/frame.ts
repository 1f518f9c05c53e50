import type { LiveView } from '../../../../schemas/operator/live-view.ts'
import { sectionsOf, titleLine, type Section } from './sections.ts'
import { lineText, piece, type Line } from './text.ts'

export interface FrameInput {
  /** Null before the first view. */
  readonly view: LiveView | null
  /** The reason why no new view arrives, and for how many seconds. */
  readonly trouble: { readonly reason: string; readonly seconds: number } | null
  readonly columns: number
  /** Null: as many rows as needed. */
  readonly rows: number | null
  readonly hasColour: boolean
}

/** The lines of a screen of that size: never a line more or a column wider. */
export function frameOf({ view, trouble, columns, rows, hasColour }: FrameInput): readonly string[] {
  const title = titleLine(view, trouble)
  const sections = view === null ? [] : sectionsOf(view, columns)
  const lines =
    rows === null ? [title, ...spaced(sections.map(({ lines }) => lines))] : fitting(title, sections, rows)
  return lines.map((line) => lineText(line, columns, hasColour))
}

const HINT: Line = [piece('q quits', 'faint')]

function fitting(title: Line, sections: readonly Section[], rows: number): readonly Line[] {
  const hint = rows > 2 ? [HINT] : []
  const room = rows - 1 - hint.length
  const airy = shared(sections, room - (sections.length - 1))
  const isAiry = sections.every((section, nth) => (airy[nth] ?? 0) >= enoughOf(section))
  const shares = isAiry ? airy : shared(sections, room)
  const shown = sections
    .map((section, nth) => cut(section, shares[nth] ?? 0))
    .filter((lines) => lines.length > 0)
  return [title, ...(isAiry ? spaced(shown) : shown.flat()), ...hint]
}

/** Puts an empty line between the sections; the title stays directly above the first one. */
function spaced(parts: readonly (readonly Line[])[]): readonly Line[] {
  return parts.flatMap((lines, nth) => (nth === 0 ? lines : [[], ...lines]))
}

/**
 * Lines for each section: by rank each section gets its most important lines, so that no list pushes another
 * off the screen; then, by rank again, all its lines.
 */
function shared(sections: readonly Section[], rows: number): readonly number[] {
  const shares = sections.map(() => 0)
  let left = rows
  const byRank = sections
    .map((section, nth) => ({ section, nth }))
    .sort((a, b) => a.section.rank - b.section.rank)
  const give = (nth: number, wanted: number): void => {
    const given = Math.min(left, wanted - (shares[nth] ?? 0))
    if (given <= 0) return
    shares[nth] = (shares[nth] ?? 0) + given
    left -= given
  }
  for (const { section, nth } of byRank) give(nth, leastOf(section))
  for (const { section, nth } of byRank) give(nth, section.lines.length)
  return shares
}

/** The smallest useful number of lines: one item, and the line that counts the others. */
function leastOf({ lines, heads, each }: Section): number {
  return Math.min(lines.length, heads + each + 1)
}

/** Lines of a section before empty lines are added: the longest lists may be cut. */
function enoughOf({ lines, heads, each, isLong }: Section): number {
  return isLong ? Math.min(lines.length, heads + 4 * each) : lines.length
}

function cut({ lines, heads, each }: Section, share: number): readonly Line[] {
  if (lines.length <= share) return lines
  // A head without items is useless.
  if (share <= heads && heads < lines.length) return []
  const things = (lines.length - heads) / each
  const shown = Math.floor((share - heads - 1) / each)
  if (shown < 1) return lines.slice(0, share)
  return [...lines.slice(0, heads + shown * each), [piece(`… ${things - shown} more`, 'faint')]]
}
