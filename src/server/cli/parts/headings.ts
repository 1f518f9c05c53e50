/** The headings of `sluice --help`, each with its verbs. */
const HEADINGS: Readonly<Record<string, readonly string[]>> = {
  'A node:': ['init', 'serve', 'open', 'env', 'top', 'doctor', 'reload', 'scale', 'config', 'migrate'],
  'Who may call:': ['organizations', 'workspaces', 'members', 'keys', 'scim'],
  'Models and their secrets:': ['models', 'catalog', 'endpoints', 'vault'],
  'Money:': ['budgets', 'credits', 'usage', 'ledger'],
  'Webhooks:': ['webhooks', 'test-webhook', 'listen'],
  'Records and files:': ['audit', 'files', 'sweep', 'prune', 'backup', 'restore', 'clusters'],
  'For shells and programs:': ['openapi', 'completion', 'help'],
}

const HEADING_OF = new Map(
  Object.entries(HEADINGS).flatMap(([heading, verbs]) => verbs.map((verb) => [verb, heading] as const)),
)

/** The heading under which the help lists a verb; null for a verb that it does not list. */
export function headingOf(verb: string): string | null {
  return HEADING_OF.get(verb) ?? null
}
