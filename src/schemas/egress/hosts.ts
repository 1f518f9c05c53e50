import type { Issue } from '../failure-metadata.ts'
import { HOST_CHARS_MAX, HOST_LABEL_CHARS_MAX, HOST_NORMALIZED_CHARS_MAX } from '../vault/vault-limits.ts'
import { ISSUES_MAX } from '../limits/limits.ts'

/** Letters of other scripts must be sent as punycode: otherwise two spellings of one name would be two hosts. Decision. */
const EXPECTED = 'an exact DNS hostname such as api.example.com, in its ASCII form'

/** A last label with which URL parsers read the whole host as an IPv4 address. WHATWG URL, "ends in a number". */
const NUMBER_LABEL = /^(?:[0-9]+|0x[0-9a-f]*)$/
/** A label of a hostname in lower case. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

interface Rule {
  /** @param name lower case, without its trailing dot */
  readonly breaks: (text: string, name: string) => boolean
  readonly message: string
}

/** In the order of reporting: the first broken rule counts. */
const RULES: readonly Rule[] = [
  { breaks: (text) => text === '', message: 'is empty' },
  { breaks: (text) => text.length > HOST_CHARS_MAX, message: 'is too long' },
  { breaks: (text) => /\s/.test(text), message: 'contains whitespace' },
  // Checked before the name is converted to lower case, since that turns some letters of other scripts into ASCII.
  { breaks: (text) => /[^\x21-\x7e]/.test(text), message: 'contains a character that is not ASCII' },
  { breaks: (text) => text.includes('://'), message: 'has a scheme' },
  { breaks: (text) => text.includes('@'), message: 'has user information' },
  { breaks: (text) => /[/\\?#]/.test(text), message: 'has a path' },
  { breaks: (text) => /[[\]]|:.*:/.test(text), message: 'is an IP address' },
  { breaks: (text) => text.includes(':'), message: 'has a port' },
  { breaks: (text) => text.includes('*'), message: 'has a wildcard' },
  { breaks: (_, name) => name.split('.').includes(''), message: 'has an empty label' },
  { breaks: (_, name) => name.length > HOST_NORMALIZED_CHARS_MAX, message: 'is too long' },
  {
    breaks: (_, name) => name.split('.').some((label) => label.length > HOST_LABEL_CHARS_MAX),
    message: 'has a label that is too long',
  },
  {
    breaks: (_, name) => !name.split('.').every((label) => LABEL.test(label)),
    message: 'has a label with characters other than letters, digits and inner hyphens',
  },
  { breaks: (_, name) => NUMBER_LABEL.test(name.split('.').at(-1) ?? ''), message: 'is an IP address' },
]

/**
 * The canonical form of an exact DNS hostname: ASCII, lower case, without a trailing dot. Hosts are compared
 * in this form and only for equality, so a parent domain is a different host.
 * @returns null for any other text: schemes, ports, paths, wildcards, addresses in any notation.
 */
export function normalHost(text: string): string | null {
  const name = nameOf(text)
  return RULES.some(({ breaks }) => breaks(text, name)) ? null : name
}

export type NormalHosts =
  | { readonly hosts: readonly string[]; readonly issues: null }
  | { readonly hosts: null; readonly issues: readonly Issue[] }

/**
 * Normalizes a secret's hosts: removes duplicates and sorts the rest.
 * @param path JSON pointer of the list
 * @returns the hosts, or the issues of entries, which name an entry by its index and never by its text.
 */
export function normalHosts(texts: readonly string[], path: string): NormalHosts {
  const issues = texts.flatMap((text, nth) => issueOf(text, `${path}/${nth}`)).slice(0, ISSUES_MAX)
  if (issues.length > 0) return { hosts: null, issues }
  return { hosts: [...new Set(texts.map(nameOf))].sort(), issues: null }
}

function issueOf(text: string, path: string): readonly Issue[] {
  const name = nameOf(text)
  const rule = RULES.find(({ breaks }) => breaks(text, name))
  return rule === undefined ? [] : [{ path, message: rule.message, expected: EXPECTED }]
}

function nameOf(text: string): string {
  return text.replace(/\.$/, '').toLowerCase()
}
