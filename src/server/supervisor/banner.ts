import { API_PREFIX, DASHBOARD_PATH } from '../../schemas/api-prefix.ts'

/** The ready line for machines: exactly these members. */
export interface ReadyFacts {
  readonly url: string
  readonly docs_url: string
  readonly admin_url: string
  readonly fronts: number
  /** Total threads of all fronts for long sessions. */
  readonly workers: number
  readonly postgres: 'embedded' | 'external'
  readonly redis: 'external' | 'child' | 'in-memory'
  /** A directory, or `s3://bucket/prefix/`. */
  readonly objects: string
  /** Services without which the node starts; `/readyz` has the details. */
  readonly degraded: readonly 'redis'[]
  readonly version: string
}

export interface BannerKeys {
  /** The plain key, only at the start that created it: keys are shown once. */
  readonly inference: string | null
  readonly management: string | null
  /** The file that holds the keys until the operator deletes it; null when it is gone. */
  readonly file: string | null
}

export interface BannerOptions {
  readonly facts: ReadyFacts
  /** The number of the settings; `facts` has the effective number. */
  readonly configuredWorkers: number
  readonly keys: BannerKeys
  /** The certificate file for TLS: the printed command uses it to trust a self-signed certificate. */
  readonly certFile: string | null
  /** File of a root key that this start created; null otherwise. */
  readonly rootKeyFile: string | null
  readonly hasColour: boolean
}

export function readyLine(facts: ReadyFacts): string {
  return `${JSON.stringify({ event: 'ready', ...facts })}\n`
}

/** The banner for people: addresses, services and commands to paste. */
export function banner({
  facts,
  configuredWorkers,
  keys,
  certFile,
  rootKeyFile,
  hasColour,
}: BannerOptions): string {
  const paint = (code: number, text: string): string => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const row = (name: string, value: string): string => `  ${paint(2, name.padEnd(12))}${value}`
  const kind = facts.redis === 'in-memory' ? ' (loses rate limit state when the node stops)' : ''
  const note = facts.degraded.includes('redis')
    ? paint(33, ' (cannot be reached: each front applies its share of every limit)')
    : kind
  const workersNote =
    facts.workers === configuredWorkers
      ? ''
      : ` (SLUICE_WORKERS is ${configuredWorkers}; each front has at least one)`
  const lines = [
    '',
    `  ${paint(1, 'Sluice')} ${facts.version}`,
    '',
    row('API', paint(36, `${facts.url}${API_PREFIX}`)),
    row('Docs', paint(36, facts.docs_url)),
    row('Dashboard', `${paint(36, `${facts.admin_url}${DASHBOARD_PATH}`)}  (sign in with a management key)`),
    row(
      'Workers',
      `${counted(facts.fronts, 'front')}, ${counted(facts.workers, 'worker thread')}${workersNote}`,
    ),
    row('Stores', `Postgres ${facts.postgres}, Redis ${facts.redis}${note}`),
    row('Files', facts.objects),
    ...(rootKeyFile === null
      ? []
      : [
          row(
            'Root key',
            `created in ${rootKeyFile}; back it up: stored files cannot be decrypted without it`,
          ),
        ]),
    ...keyRows(keys, row),
    '',
    '  Try it:',
    ...TRIALS.map((trial) => `  ${curlLine(facts.url, trial, { keys, certFile })}`),
    '',
  ]
  return `${lines.join('\n')}\n`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

type Row = (name: string, value: string) => string

function keyRows({ inference, management, file }: BannerKeys, row: Row): readonly string[] {
  const kept = file === null ? [] : [row('Keys', `in ${file}; save the keys elsewhere, then delete the file`)]
  if (inference === null || management === null) return kept
  const shown = (name: string, key: string): string => row(name, `${key}  (shown once)`)
  return [shown('Inference', inference), shown('Management', management), ...kept]
}

interface Trial {
  readonly options: string
  /** Below the API's prefix. */
  readonly path: string
  readonly body: object
}

/** Calls of models that need no key; the second one streams. */
const TRIALS: readonly Trial[] = [
  {
    options: '-s',
    path: '/embeddings',
    body: { model: 'sluice/lexical-1', input: 'Hello', dimensions: 8 },
  },
  {
    options: '-sN',
    path: '/chat/completions',
    body: { model: 'sluice/echo-1:slow', stream: true, messages: [{ role: 'user', content: 'Hello there' }] },
  },
]

/** A command that works when pasted. The key of an earlier start is read from its file and never shown again. */
function curlLine(
  url: string,
  { options, path, body }: Trial,
  { keys, certFile }: { keys: BannerKeys; certFile: string | null },
): string {
  const pick = `sed -n 's/.*"inference_key": *"\\([^"]*\\)".*/\\1/p'`
  const fromFile = keys.file === null ? '$SLUICE_KEY' : `$(${pick} ${quoted(keys.file)})`
  return [
    `curl ${options}`,
    ...(certFile === null ? [] : ['--cacert', quoted(certFile)]),
    `${url}${API_PREFIX}${path}`,
    `-H "Authorization: Bearer ${keys.inference ?? fromFile}"`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
