import { once } from 'node:events'

const ESC = '\u001b['
/** The other screen, so that the one before comes back as it was; no cursor. */
const ENTER = `${ESC}?1049h${ESC}?25l`
const LEAVE = `${ESC}?25h${ESC}?1049l`
/** A terminal that knows these shows what is between them at once. */
const HOLD = `${ESC}?2026h`
const SHOW = `${ESC}?2026l`
const HOME = `${ESC}H`
const CLEAR_LINE = `${ESC}K`
const CLEAR_BELOW = `${ESC}J`

const SIZE_UNKNOWN = { columns: 80, rows: 24 }
const KEY_INTERRUPT = '\u0003'
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Screen {
  size(): { readonly columns: number; readonly rows: number }
  /** Draws over what was there; a terminal that is behind gets the newest frame alone. */
  draw(lines: readonly string[]): void
  /** Gives the terminal back. */
  leave(): void
}

export interface ScreenInput {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  /** The size is another one: what was drawn does not fit. */
  onChange(): void
  /** Somebody wants to go: a key, or a signal. */
  onEnd(): void
}

/** Takes the terminal over until `leave`, and gives it back whatever ends the process but a SIGKILL. */
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

/** A terminal that does not know its size tells 0, or nothing. */
function sizeOf(told: number | undefined, otherwise: number): number {
  return told === undefined || told < 1 ? otherwise : told
}
