import { Option, type Command } from 'commander'
import { API_PREFIX } from '../../../schemas/api-prefix.ts'
import { runtimeOf } from '../../supervisor/data-directory/data-directory.ts'
import { commandName } from '../../config.ts'
import { inferenceKey } from '../keys/management-key.ts'
import { addVerb, loadGeneration, print } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly for?: readonly Client[]
  readonly shell: Shell
  readonly withKey?: true
  readonly keyFile?: string
}

const CLIENTS = ['openai', 'anthropic', 'openrouter'] as const
type Client = (typeof CLIENTS)[number]

/** The variable that holds the key; the variables of the clients refer to it. */
const KEY_VARIABLE = 'SLUICE_KEY'

/**
 * The variables of each client. Anthropic's client adds `/v1` by itself; its bearer token wins over another
 * key that the shell may have for Anthropic.
 */
const VARIABLES: Readonly<
  Record<Client, { readonly url: string; readonly path: string; readonly key: string }>
> = {
  openai: { url: 'OPENAI_BASE_URL', path: API_PREFIX, key: 'OPENAI_API_KEY' },
  anthropic: {
    url: 'ANTHROPIC_BASE_URL',
    path: API_PREFIX.replace(/\/v1$/, ''),
    key: 'ANTHROPIC_AUTH_TOKEN',
  },
  openrouter: { url: 'OPENROUTER_BASE_URL', path: API_PREFIX, key: 'OPENROUTER_API_KEY' },
}

/** Variables with this ending hold the keys of a node's providers. */
const PROVIDER_KEY = '_API_KEY'

const how = (name: string): string => `
Run client programs in this shell, but do not start a node in it: the node would use these variables as its provider keys.

sh, bash, zsh:  eval "$(${name} env --with-key)"
fish:           ${name} env --with-key --shell fish | source
PowerShell:     ${name} env --with-key --shell powershell | Out-String | Invoke-Expression`

/** `env`. */
export function addTo(program: Command): void {
  addVerb(
    program,
    'env',
    'print environment variables for clients of OpenAI, Anthropic and OpenRouter to call this node',
  )
    .addOption(
      new Option('--for <client...>', 'print only the variables for these clients').choices([...CLIENTS]),
    )
    .addOption(
      new Option('--shell <shell>', 'shell to print commands for').choices([...SHELLS]).default('sh'),
    )
    .option('--with-key', `also print the key from ${KEY_VARIABLE}, or the first key`)
    .option('--key-file <file>', 'file with the key, for --with-key')
    .addHelpText('after', () => how(commandName()))
    .action((options: Options, command: Command) => {
      if (options.keyFile !== undefined && options.withKey !== true)
        command.error('error: --key-file requires --with-key', { exitCode: 2 })
      const origin = ownOrigin()
      const key = options.withKey === true ? keyOf(options) : null
      const assigned = assignmentsOf(origin, options.for ?? CLIENTS, key)
      if (options.json !== true) warnOf(assigned)
      print(
        options,
        { base_url: `${origin}${API_PREFIX}`, variables: variablesOf(assigned, key) },
        assigned.map((one) => assignment(options.shell, one)).join('\n'),
      )
    })
}

/** Writes a note to stderr, where people see it: standard output is evaluated by the shell. */
function warnOf(assigned: readonly Assigned[]): void {
  const names = assigned.map(({ name }) => name).filter((name) => name.endsWith(PROVIDER_KEY))
  if (names.length === 0) return
  process.stderr.write(
    `note: do not start a node in a shell with these variables. A node reads ${names.join(' and ')} as its provider keys ` +
      'and does not accept Sluice keys there.\n',
  )
}

/** The origin at which callers reach the node: the configured one, else the origin of the running node. */
function ownOrigin(): string {
  const { config, settings } = loadGeneration()
  const isGiven = settings['SLUICE_PUBLIC_URL'] !== undefined
  return isGiven ? config.publicOrigin : (runtimeOf(config.dataDir)?.url ?? config.publicOrigin)
}

function keyOf({ keyFile }: Options): string {
  return inferenceKey(loadGeneration().config.dataDir, keyFile).reveal()
}

function assignmentsOf(origin: string, clients: readonly Client[], key: string | null): readonly Assigned[] {
  const own: readonly Assigned[] = key === null ? [] : [{ name: KEY_VARIABLE, text: key }]
  const theirs = CLIENTS.filter((client) => clients.includes(client)).flatMap((client): Assigned[] => {
    const { url, path, key: name } = VARIABLES[client]
    return [
      { name: url, text: origin + path },
      { name, sameAs: KEY_VARIABLE },
    ]
  })
  return [...own, ...theirs]
}

/** The variables for `--json`, with the key itself; null if no key is known. */
function variablesOf(assigned: readonly Assigned[], key: string | null): Record<string, string | null> {
  return Object.fromEntries(assigned.map((one) => [one.name, 'text' in one ? one.text : key]))
}

/** A variable that gets a text, or the value of another variable. */
type Assigned =
  { readonly name: string; readonly text: string } | { readonly name: string; readonly sameAs: string }

export const SHELLS = ['sh', 'fish', 'powershell'] as const
type Shell = (typeof SHELLS)[number]

interface Syntax {
  /** Quotes a text as one word of the shell. */
  quoted(text: string): string
  /** One word with the value of a variable. */
  valueOf(name: string): string
  line(name: string, word: string): string
}

const SYNTAX: Readonly<Record<Shell, Syntax>> = {
  // Between single quotes only the quote itself is special.
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
