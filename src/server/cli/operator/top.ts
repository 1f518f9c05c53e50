import { setTimeout as after } from 'node:timers/promises'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { LiveView } from '../../../schemas/operator/live-view.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import { hasColour, terminalPreferences } from '../../config.ts'
import { runtimeOf } from '../../supervisor/data-directory/data-directory.ts'
import { followLive, type LiveEnd } from '../../supervisor/admin-port/live-stream.ts'
import { managementKey } from '../keys/management-key.ts'
import { addVerb, CliFailure, loadGeneration, print } from '../parts/verb.ts'
import { sectionsOf, titleLine, type Section } from './top/sections.ts'
import { lineText, piece, type Line } from './top/text.ts'

interface Options {
  readonly keyFile?: string
  readonly once?: boolean
  readonly json?: boolean
}

/** Columns of a single print when the terminal reports no width; some report 0. */
const PRINTED_COLUMNS = 120

/** `top`. */
export function addTo(program: Command): void {
  addVerb(program, 'top', 'show load and problems of the running node, updated every second; q quits')
    .option(
      '--key-file <file>',
      "file with a management key of the operator's organization; default: SLUICE_MANAGEMENT_KEY or the first keys",
    )
    .option('--once', 'print once and exit (implied without a terminal)')
    .action(async (options: Options) => {
      const { dataDir } = loadGeneration().config
      if (runtimeOf(dataDir) === null)
        throw new CliFailure(`no running node uses ${dataDir}, or the node is still starting`)
      const { isDumb } = terminalPreferences()
      const watched: Watched = {
        // A restarted node may have another address.
        adminUrl: () => runtimeOf(dataDir)?.adminUrl ?? null,
        managementKey: managementKey(dataDir, options.keyFile),
        hasColour: hasColour(process.stdout),
      }
      if (process.stdout.isTTY && !isDumb && options.once !== true && options.json !== true)
        return watchLive(watched)
      const view = await lookOnce(watched)
      const columns =
        process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : PRINTED_COLUMNS
      const frame = frameOf({ view, trouble: null, columns, rows: null, hasColour: watched.hasColour })
      if (options.json === true) print(options, view, '')
      // Control characters in untrusted text were replaced in the frame; only Sluice's own colors remain.
      else process.stdout.write(`${frame.join('\n')}\n`)
    })
}

/** Milliseconds between two tries to reach a node that stopped answering. Decision. */
const TRY_AGAIN_MS = 1_000
const NO_NODE = 'no node is ready on this machine'

interface Watched {
  /** Null while no node runs. */
  adminUrl(): string | null
  readonly managementKey: Secret
  readonly hasColour: boolean
}

export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout'>

/** Reads one view of a node. Throws CliFailure when no node runs. */
async function lookOnce({ adminUrl, managementKey }: Watched): Promise<LiveView> {
  const url = adminUrl()
  if (url === null) throw new CliFailure(NO_NODE)
  const enough = new AbortController()
  const views: LiveView[] = []
  const end = await followLive({
    adminUrl: url,
    managementKey,
    signal: enough.signal,
    onView(view) {
      views.push(view)
      enough.abort()
    },
  })
  const [view] = views
  if (view === undefined) throw new CliFailure(messageOf(end))
  return view
}

/** Shows the node until the user quits, and keeps retrying while the node does not answer. Throws CliFailure when the node refuses the key. */
export async function watchLive(
  { adminUrl, managementKey, hasColour }: Watched,
  terminal: Terminal = process,
): Promise<void> {
  const ended = new AbortController()
  const seen: {
    view: LiveView | null
    trouble: { readonly reason: string; readonly sinceMs: number } | null
  } = { view: null, trouble: null }
  const draw = (): void => {
    const { columns, rows } = screen.size()
    const { view, trouble } = seen
    const problem =
      trouble === null
        ? null
        : { reason: trouble.reason, seconds: (performance.now() - trouble.sinceMs) / 1_000 }
    // The last column is left empty: terminals differ in how they wrap after it.
    screen.draw(frameOf({ view, trouble: problem, columns: columns - 1, rows, hasColour }))
  }
  const screen = openScreen({
    input: terminal.stdin,
    output: terminal.stdout,
    onChange: () => draw(),
    onEnd: () => ended.abort(),
  })
  try {
    draw()
    while (!ended.signal.aborted) {
      const end = await next()
      if (ended.signal.aborted) break
      if (end.kind === 'refused') throw new CliFailure(messageOf(end))
      seen.trouble = { reason: end.reason, sinceMs: seen.trouble?.sinceMs ?? performance.now() }
      draw()
      await after(TRY_AGAIN_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  } finally {
    screen.leave()
  }

  function next(): Promise<LiveEnd> {
    const url = adminUrl()
    if (url === null) return Promise.resolve({ kind: 'away', reason: NO_NODE })
    return followLive({
      adminUrl: url,
      managementKey,
      signal: ended.signal,
      onView(view) {
        seen.view = view
        seen.trouble = null
        draw()
      },
    })
  }
}

function messageOf({ kind, reason }: LiveEnd): string {
  return kind === 'refused'
    ? `the node refused this key: ${reason}`
    : `the live view of the node failed: ${reason}`
}

const ESC = '\u001b['
/** Switches to the alternate screen, so that the earlier one can be restored unchanged, and hides the cursor. */
const ENTER = `${ESC}?1049h${ESC}?25l`
/** Shows the cursor and switches back to the earlier screen. */
const LEAVE = `${ESC}?25h${ESC}?1049l`
/** Begins a frame: a terminal with synchronized output shows it at once. */
const HOLD = `${ESC}?2026h`
/** Ends a frame. */
const SHOW = `${ESC}?2026l`
/** Moves the cursor to the first cell. */
const HOME = `${ESC}H`
/** Clears the rest of the line. */
const CLEAR_LINE = `${ESC}K`
/** Clears the lines below. */
const CLEAR_BELOW = `${ESC}J`

const SIZE_UNKNOWN = { columns: 80, rows: 24 }
const KEY_INTERRUPT = '\u0003'
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Screen {
  size(): { readonly columns: number; readonly rows: number }
  /** Draws over the previous frame; a slow terminal gets only the newest frame. */
  draw(lines: readonly string[]): void
  /** Restores the terminal. */
  leave(): void
}

interface ScreenInput {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  /** Called when the size changes: the previous frame no longer fits. */
  onChange(): void
  /** Called when the user quits, by a key or a signal. */
  onEnd(): void
}

/** Takes over the terminal until `leave`, and restores it however the process ends, except by SIGKILL. */
function openScreen({ input, output, onChange, onEnd }: ScreenInput): Screen {
  let isOurs = false
  let waiting: string | null = null
  let isBehind = false
  const takeOver = (): void => {
    isOurs = true
    if (input.isTTY) input.setRawMode(true)
    output.write(ENTER)
  }
  const giveBack = (): void => {
    if (!isOurs) return
    isOurs = false
    if (input.isTTY) input.setRawMode(false)
    output.write(LEAVE)
  }
  const onKeys = (keys: Buffer): void => {
    const text = keys.toString('latin1')
    if (text === 'q' || text === 'Q' || text.includes(KEY_INTERRUPT)) onEnd()
  }
  const write = (frame: string): void => {
    isBehind = !output.write(frame)
    if (!isBehind) return
    void once(output, 'drain').then(
      () => {
        const newest = waiting
        waiting = null
        isBehind = false
        if (newest !== null && isOurs) write(newest)
      },
      () => undefined,
    )
  }
  if (input.isTTY) input.on('data', onKeys)
  output.on('resize', onChange)
  for (const signal of ENDS) process.on(signal, onEnd)
  process.on('exit', giveBack)
  takeOver()
  return {
    size: () => ({
      columns: sizeOf(output.columns, SIZE_UNKNOWN.columns),
      rows: sizeOf(output.rows, SIZE_UNKNOWN.rows),
    }),
    draw(lines) {
      if (!isOurs) return
      const frame = `${HOLD}${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}${SHOW}`
      if (isBehind) waiting = frame
      else write(frame)
    },
    leave() {
      giveBack()
      input.off('data', onKeys).pause()
      output.off('resize', onChange)
      for (const signal of ENDS) process.off(signal, onEnd)
      process.off('exit', giveBack)
    },
  }
}

/** The reported size, or a default: a terminal that does not know its size reports 0 or nothing. */
function sizeOf(reported: number | undefined, otherwise: number): number {
  return reported === undefined || reported < 1 ? otherwise : reported
}

interface FrameInput {
  /** Null before the first view. */
  readonly view: LiveView | null
  /** The reason why no new view arrives, and since how many seconds; null: views arrive. */
  readonly trouble: { readonly reason: string; readonly seconds: number } | null
  readonly columns: number
  /** Null: as many rows as needed. */
  readonly rows: number | null
  readonly hasColour: boolean
}

/** The lines of a screen of that size, never more rows or columns. */
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
 * Number of lines for each section. First each section, by rank, gets its most important lines, so that no list
 * pushes another off the screen; then each, by rank again, gets all its lines.
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
