import { once } from 'node:events'

const ESC = '\u001b['
/** Switches to the alternate screen, so that the earlier one comes back unchanged, and hides the cursor. */
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

export interface Screen {
  size(): { readonly columns: number; readonly rows: number }
  /** Draws over the previous frame; a slow terminal gets only the newest frame. */
  draw(lines: readonly string[]): void
  /** Restores the terminal. */
  leave(): void
}

export interface ScreenInput {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  /** Reports a new size, to which the previous frame does not fit. */
  onChange(): void
  /** Reports that the user ends the screen, by a key or a signal. */
  onEnd(): void
}

/** Takes over the terminal until `leave`, and restores it at any end of the process except by SIGKILL. */
export function openScreen({ input, output, onChange, onEnd }: ScreenInput): Screen {
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

/** A size, or its default: a terminal that does not know its size reports 0, or nothing. */
function sizeOf(reported: number | undefined, otherwise: number): number {
  return reported === undefined || reported < 1 ? otherwise : reported
}
