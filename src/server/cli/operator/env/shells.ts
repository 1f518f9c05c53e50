/** A variable that gets a text, or the value of another variable. */
export type Assigned =
  { readonly name: string; readonly text: string } | { readonly name: string; readonly sameAs: string }

export const SHELLS = ['sh', 'fish', 'powershell'] as const
export type Shell = (typeof SHELLS)[number]

interface Syntax {
  /** One word that stands for exactly this text. */
  quoted(text: string): string
  /** One word with the value of a variable. */
  valueOf(name: string): string
  line(name: string, word: string): string
}

const SYNTAX: Readonly<Record<Shell, Syntax>> = {
  // Nothing has a meaning between single quotes but the quote itself.
  sh: {
    quoted: (text) => `'${text.replaceAll("'", "'\\''")}'`,
    valueOf: (name) => `"$${name}"`,
    line: (name, word) => `export ${name}=${word}`,
  },
  // A backslash escapes itself and the quote.
  fish: {
    quoted: (text) => `'${text.replaceAll(/[\\']/g, (sign) => `\\${sign}`)}'`,
    valueOf: (name) => `"$${name}"`,
    line: (name, word) => `set -gx ${name} ${word}`,
  },
  // A quote is doubled; four typographic signs are quotes too.
  powershell: {
    quoted: (text) => `'${text.replaceAll(/['\u2018-\u201b]/g, (sign) => sign + sign)}'`,
    valueOf: (name) => `$env:${name}`,
    line: (name, word) => `$env:${name} = ${word}`,
  },
}

/** The command of a shell that exports a variable. No text, whatever it holds, becomes a command. */
export function assignment(shell: Shell, assigned: Assigned): string {
  const { quoted, valueOf, line } = SYNTAX[shell]
  return line(assigned.name, 'text' in assigned ? quoted(assigned.text) : valueOf(assigned.sameAs))
}
