/** Lines of the log for people at a terminal. */

/** Members that stand at fixed places of a line, or say nothing there. */
const PLACED: ReadonlySet<string> = new Set(['level', 'time', 'event', 'role', 'slot', 'pid'])
/** Colours of the levels that a terminal shows by default. */
const COLOURS: Readonly<Record<string, number>> = { warn: 33, error: 31 }
/** Columns of the longest level. */
const LEVEL_COLUMNS = 'error'.length

/**
 * A line of JSON as the logger writes it, for people: local time, level, process, event and fields.
 * @param hasColour the terminal shows colours
 */
export function textLine(json: string, hasColour: boolean): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>
  const [level, role] = [String(line['level']), String(line['role'])]
  const shown = level.padEnd(LEVEL_COLUMNS)
  const colour = hasColour ? COLOURS[level] : undefined
  const painted = colour === undefined ? shown : `\u001b[${colour}m${shown}\u001b[0m`
  const place = line['slot'] === undefined ? role : `${role} ${String(line['slot'])}`
  const fields = Object.entries(line).flatMap(([name, value]) =>
    PLACED.has(name) ? [] : ` ${name}=${textOf(value)}`,
  )
  return `${timeOf(line['time'])} ${painted} ${place}: ${String(line['event'])}${fields.join('')}\n`
}

/** Hours, minutes and seconds where the reader is. */
function timeOf(time: unknown): string {
  const at = new Date(String(time))
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((figure) => String(figure).padStart(2, '0'))
    .join(':')
}

/** ASCII words stay bare; everything else is JSON, which keeps a field on its line. */
function textOf(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+,%()[\]-]+$/.test(value)) return value
  return JSON.stringify(value).replaceAll(SIGNS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`)
}

/** Signs that JSON leaves as they are and that move the cursor of a terminal. */
const SIGNS = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu
