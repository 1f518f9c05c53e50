import { Command, Help, type Option } from 'commander'
import { nearest } from '../../../schemas/nearest.ts'
import { commandName, hasColour } from '../../config.ts'
import { inTone } from './terminal-text.ts'

/** Sets colors and the verb `help`. Call it before verbs are added, since they inherit the colors. */
export function configureHelp(program: Command): void {
  program
    .configureOutput({
      getOutHasColors: () => hasColour(process.stdout),
      getErrHasColors: () => hasColour(process.stderr),
      outputError: (text, write) => {
        write(hasColour(process.stderr) ? text.replace(/^error:/, (word) => inTone(word, 'bad')) : text)
        write(elsewhere(program, text))
      },
    })
    .configureHelp({ styleTitle: (title) => inTone(title, 'strong') })
    .addHelpCommand(helpVerb())
  program.createHelp = () => Object.assign(new OrderedHelp(), program.configureHelp())
}

/** The help of the program: verbs and their headings in the order of the headings, not of loading. */
class OrderedHelp extends Help {
  override visibleCommands(command: Command): Command[] {
    return inOrder(super.visibleCommands(command))
  }

  override groupItems<T extends Command | Option>(
    _unsorted: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    return super.groupItems(visible, visible, groupOf)
  }
}

/** Puts each verb under its heading, and its examples into its help. */
export function addHelpTexts(program: Command): void {
  for (const verb of program.commands) {
    const heading = headingOf(verb.name())
    if (heading !== null) verb.helpGroup(heading)
    addExamples(verb, verb.name())
  }
}

/** Verbs that an error about an unknown verb names. Decision. */
const VERBS_NAMED_MAX = 5

/** A line about verbs of other groups with the name of an unknown verb; empty if there are no such verbs. */
function elsewhere(program: Command, error: string): string {
  const [, word] = /^error: unknown command '([^']+)'/.exec(error) ?? []
  const paths = word === undefined ? [] : pathsTo(program, word)
  if (paths.length === 0) return ''
  const names = paths.slice(0, VERBS_NAMED_MAX).map((path) => `\`${commandName()} ${path}\``)
  return `Similar commands: ${names.join(', ')}${paths.length > VERBS_NAMED_MAX ? ' and more' : ''}.\n`
}

function pathsTo(command: Command, word: string, path = ''): readonly string[] {
  return command.commands.flatMap((verb) => {
    const own = `${path} ${verb.name()}`.trimStart()
    return [...(verb.name() === word ? [own] : []), ...pathsTo(verb, word, own)]
  })
}

function helpVerb(): Command {
  const verb = new Command('help')
    .argument('[verb...]')
    .description('show help for a command')
    .helpOption(false)
  return verb.helpGroup(headingOf('help') ?? '')
}

/**
 * Shows the help of the verb that the words name, also for a verb within a group: commander's own `help` reads
 * only one word. Throws CommanderError, as each help does.
 */
export function showHelp(program: Command, words: readonly string[]): never {
  let verb: Command = program
  for (const word of words.filter((one) => one !== 'help' && !one.startsWith('-'))) {
    if (verb.commands.length === 0) break
    const below = verb.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (below === undefined) {
      const near = nearest(
        word,
        verb
          .createHelp()
          .visibleCommands(verb)
          .map((one) => one.name()),
      )
      const hint = near.length === 0 ? '' : `\n(Did you mean ${near.join(' or ')}?)`
      verb.error(`error: unknown command '${word}'${hint}`, { exitCode: 2 })
    }
    verb = below
  }
  verb.help()
}

function addExamples(verb: Command, path: string): void {
  const examples = examplesOf(path)
  if (examples.length > 0) {
    const lines = (): readonly string[] => examples.map((example) => `  ${commandName()} ${example}`)
    verb.addHelpText('after', () => `\n${inTone('Examples:', 'strong')}\n${lines().join('\n')}`)
  }
  for (const below of verb.commands) addExamples(below, `${path} ${below.name()}`)
}

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

function inOrder<T extends { name(): string }>(verbs: readonly T[]): T[] {
  return verbs.toSorted((one, other) => ORDER.indexOf(one.name()) - ORDER.indexOf(other.name()))
}

/** The heading under which the help lists a verb; null for a verb that it does not list. */
export function headingOf(verb: string): string | null {
  return HEADING_OF.get(verb) ?? null
}

/** Examples of verbs for their help, by the words after `sluice`; an example continues its words. A test parses each of them. */
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

/** Examples that the help of a group shows: those of its first verbs. */
const GROUP_EXAMPLES_MAX = 4

/**
 * Commands that show how a verb is called, without the program's name; for a group, the commands of its first
 * verbs.
 * @param path the words after `sluice`
 */
export function examplesOf(path: string): readonly string[] {
  const own = EXAMPLES[path]
  if (own !== undefined) return own.map((rest) => `${path} ${rest}`.trimEnd())
  return Object.keys(EXAMPLES)
    .filter((verb) => verb.startsWith(`${path} `))
    .slice(0, GROUP_EXAMPLES_MAX)
    .flatMap((verb) => examplesOf(verb).slice(0, 1))
}
