/**
 * Examples of verbs for their help, by the words behind `sluice`; an example continues its words. A test
 * parses each of them.
 */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['', 'sluice.json --yes --port 8080 --data ./data'],
  serve: [''],
  open: ['', '--print'],
  env: ['', '--for openai --with-key', '--shell fish'],
  top: ['', '--once --json'],
  doctor: ['', '--strict --json'],
  reload: [''],
  scale: ['--fronts 4', '--fronts 2 --workers 4'],
  'config print': ['', '--json'],
  migrate: [''],
  'organizations create': ['--name Acme'],
  'organizations list': [''],
  'organizations caps': ['Acme', 'Acme --workspaces 20 --api-keys default'],
  'workspaces list': ['', '--organization Acme'],
  'workspaces get': ['default'],
  'workspaces create': ['--name Research --slug research'],
  'workspaces update': ['research --name "Research and design"', 'research --callback-url none'],
  'workspaces set': ['research --provider-key openai=-', 'research --programme on'],
  'workspaces delete': ['research'],
  'members list': ['default'],
  'members add': ['default ada@acme.example --role admin'],
  'members remove': ['default ada@acme.example'],
  'keys create': [
    '--name laptop --kind inference',
    '--name ci --kind inference --workspace research --limit 20 --limit-reset monthly',
    '--name ops --kind management',
  ],
  'keys list': ['', '--workspace research'],
  'keys get': ['laptop', '3f9a2c'],
  'keys update': ['laptop --limit 50', 'laptop --rpm 600 --burst 100', '3f9a2c --state off'],
  'keys rotate': ['laptop --overlap 3600'],
  'keys revoke': ['laptop --wait', '3f9a2c'],
  'scim tokens create': ['--name okta'],
  'scim tokens list': [''],
  'scim tokens revoke': ['okta'],
  'models list': [''],
  'models explain': ['google/gemini-2.5-pro --tokens 300000', 'anthropic/claude-sonnet-5 --from chat'],
  'catalog check': ['catalog.json'],
  'endpoints list': [''],
  'endpoints validate': ['acme/embed-1', 'acme/chat-1 --forms chat messages'],
  'vault create': ['--name tools --workspace default'],
  'vault list': [''],
  'vault put': ['github_token --vault tools --host api.github.com < token.txt'],
  'vault secrets': ['--vault tools'],
  'vault rm': ['github_token --vault tools'],
  'vault delete': ['tools'],
  'vault status': [''],
  'vault confirm-root': ['/mnt/safe/root-key'],
  'vault rotate-root': ['--new'],
  'vault rotate-data': ['', '--vault tools'],
  'budgets list': ['default'],
  'budgets get': ['default monthly'],
  'budgets put': ['default monthly 100', 'research daily 2.5 --include-byok on'],
  'budgets delete': ['default daily'],
  'credits add': ['100 --organization Acme --note "invoice 12"'],
  'credits show': [''],
  'credits list': ['--organization Acme'],
  usage: ['', '--by model --from 2027-01-01', '--by key --workspace research'],
  'ledger check': [''],
  'ledger export': ['--csv --from 2027-01-01 > ledger.csv'],
  'ledger close-node': ['0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'],
  'ledger forfeits': ['--limit 20'],
  'ledger forgive': ['--before 2027-01-01 --note "a power cut"'],
  'accept-restore': ['', '--json'],
  'webhooks list': ['', '--state dead --workspace default'],
  'webhooks replay': ['--dead --workspace default', '0190a1b2-c3d4'],
  'webhooks secret show': ['default'],
  'webhooks secret rotate': ['default --overlap 24h'],
  'test-webhook': ['', '--workspace research --to https://hooks.acme.example/sluice'],
  listen: ['http://127.0.0.1:3000/hooks', '3000 --workspace research --url https://ai.acme.example'],
  logs: ['--failed --from 2027-01-01T00:00:00Z', '--follow --key 3fa91c --status 4xx'],
  'audit list': ['--since 2027-01-01T00:00:00Z', '--operation keys.create --limit 20'],
  'audit export': ['> audit.ndjson'],
  'audit verify': [''],
  'files list': ['--workspace research --limit 20'],
  'files rm': ['file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'],
  'files verify': [''],
  sweep: ['', '--min-age 60'],
  prune: ['--dry-run', ''],
  backup: ['/mnt/safe/sluice-backup'],
  restore: ['/mnt/safe/sluice-backup'],
  'clusters list': [''],
  'clusters remove': ['cluster-b8fc65d891cb7af7'],
  openapi: ['> openapi.json'],
  completion: ['bash', 'fish'],
}

/** Examples of a group in its help: the first of its verbs. */
const GROUP_EXAMPLES_MAX = 4

/**
 * Commands that show how a verb is called, without the program's name; of a group, those of its first verbs.
 * @param path the words behind `sluice`
 */
export function examplesOf(path: string): readonly string[] {
  const own = EXAMPLES[path]
  if (own !== undefined) return own.map((rest) => `${path} ${rest}`.trimEnd())
  return Object.keys(EXAMPLES)
    .filter((verb) => verb.startsWith(`${path} `))
    .slice(0, GROUP_EXAMPLES_MAX)
    .flatMap((verb) => examplesOf(verb).slice(0, 1))
}
