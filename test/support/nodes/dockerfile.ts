/** Reads a Dockerfile as its instructions, so that what it says can be checked, and run, without Docker. */

export interface Instruction {
  /** In capitals. */
  readonly name: string
  /** `--from=build` as `from: build`. */
  readonly flags: Readonly<Record<string, string>>
  /** What follows the flags, lines joined. */
  readonly text: string
  /** Counted from 1. */
  readonly line: number
}

/** Throws on an invalid line. */
export function parseDockerfile(text: string): readonly Instruction[] {
  const found: Instruction[] = []
  let [joined, startedAt] = ['', 0]
  text.split('\n').forEach((line, index) => {
    if (/^\s*(#|$)/.test(line)) return
    if (joined === '') startedAt = index + 1
    joined += line.replace(/\\\s*$/, '')
    if (/\\\s*$/.test(line)) return
    found.push(instructionOf(joined.trim(), startedAt))
    joined = ''
  })
  return found
}

function instructionOf(text: string, line: number): Instruction {
  const [, name = '', rest = ''] = /^([A-Za-z]+)\s+(.*)$/s.exec(text) ?? []
  if (name === '') throw new Error(`line ${line} is no instruction: ${text}`)
  const flags: Record<string, string> = {}
  let left = rest
  for (let found = FLAG.exec(left); found !== null; found = FLAG.exec(left)) {
    flags[found[1] ?? ''] = found[2] ?? ''
    left = left.slice(found[0].length)
  }
  return { name: name.toUpperCase(), flags, text: left.trim(), line }
}

const FLAG = /^--([a-z-]+)=(\S+)\s+/

/** The words of the JSON form; null for the other one. */
export function jsonForm(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : null
  } catch {
    return null
  }
}

/** `A=1 B="2 3"` of ENV, LABEL and ARG. */
export function pairsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, plain = '']) => [
      name,
      quoted ?? plain,
    ]),
  )
}
