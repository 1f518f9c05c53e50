import type { Turn } from '../../../dialects/prompt.ts'

type Parts = Extract<Turn, { readonly role: 'tool' }>['parts']

/** Begins the result of a tool that failed, in forms that have no other word for it. Part D, mapping table. */
const ERROR = '[error] '

/** The result of a tool that failed. */
export function erroneous(parts: Parts): Parts {
  const [first] = parts
  if (first?.kind === 'text') return [{ ...first, text: ERROR + first.text }, ...parts.slice(1)]
  return [{ kind: 'text', text: ERROR.trimEnd(), cache: null }, ...parts]
}
