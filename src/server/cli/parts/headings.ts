/** The headings of `sluice --help`, each with its verbs in the order of the list. */
const HEADINGS: Readonly<Record<string, readonly string[]>> = {
  'Nodes:': ['init', 'serve', 'open', 'env', 'top', 'doctor', 'reload', 'scale', 'config', 'migrate'],
  'Organizations, workspaces and keys:': ['organizations', 'workspaces', 'members', 'keys', 'scim'],
  'Models and secrets:': ['models', 'catalog', 'endpoints', 'vault'],
  'Money:': ['budgets', 'credits', 'usage', 'ledger', 'accept-restore'],
  'Webhooks:': ['webhooks', 'test-webhook', 'listen'],
  'Records and files:': ['logs', 'audit', 'files', 'sweep', 'prune', 'backup', 'restore', 'clusters'],
  'Shell and scripting:': ['openapi', 'completion', 'help'],
}

const HEADING_OF = new Map(
  Object.entries(HEADINGS).flatMap(([heading, verbs]) => verbs.map((verb) => [verb, heading] as const)),
)

const ORDER = [...HEADING_OF.keys()]

/** Sorts verbs as the help lists them. */
export function inOrder<T extends { name(): string }>(verbs: readonly T[]): T[] {
  return verbs.toSorted((one, other) => ORDER.indexOf(one.name()) - ORDER.indexOf(other.name()))
}

/** The heading under which the help lists a verb; null for a verb that it does not list. */
export function headingOf(verb: string): string | null {
  return HEADING_OF.get(verb) ?? null
}
