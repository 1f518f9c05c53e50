import type { LiveView } from '../../../../schemas/operator/live-view.ts'
import { sectionsOf, titleLine, type Section } from './sections.ts'
import { lineText, piece, type Line } from './text.ts'

export interface FrameInput {
  /** Null before the first look. */
  readonly view: LiveView | null
  /** Why there is no new one, and for how many seconds. */
  readonly trouble: { readonly reason: string; readonly seconds: number } | null
  readonly columns: number
  /** Null: as many as it takes. */
  readonly rows: number | null
  readonly hasColour: boolean
}

/** What a screen of that size shows: never a line more or a column wider. */
export function frameOf({ view, trouble, columns, rows, hasColour }: FrameInput): readonly string[] {
  const title = titleLine(view, trouble)
  const sections = view === null ? [] : sectionsOf(view, columns)
  const lines =
    rows === null ? [title, ...spaced(sections.map(({ lines }) => lines))] : fitting(title, sections, rows)
  return lines.map((line) => lineText(line, columns, hasColour))
}

const HINT: Line = [piece('q ends', 'faint')]

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

/** An empty line between things that do not belong together; what follows the title does. */
function spaced(parts: readonly (readonly Line[])[]): readonly Line[] {
  return parts.flatMap((lines, nth) => (nth === 0 ? lines : [[], ...lines]))
}

/**
 * Lines for each section: by rank each gets what tells of it, so that no list drives another off the screen;
 * then, by rank again, all that it has.
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

/** One thing, and the line that tells of more. */
function leastOf({ lines, heads, each }: Section): number {
  return Math.min(lines.length, heads + each + 1)
}

/** What a section must have before lines are spent on space: the longest lists may be cut. */
function enoughOf({ lines, heads, each, isLong }: Section): number {
  return isLong ? Math.min(lines.length, heads + 4 * each) : lines.length
}

function cut({ lines, heads, each }: Section, share: number): readonly Line[] {
  if (lines.length <= share) return lines
  // A head above nothing tells nothing.
  if (share <= heads && heads < lines.length) return []
  const things = (lines.length - heads) / each
  const shown = Math.floor((share - heads - 1) / each)
  if (shown < 1) return lines.slice(0, share)
  return [...lines.slice(0, heads + shown * each), [piece(`… ${things - shown} more`, 'faint')]]
}
