import { API_PREFIX, DASHBOARD_PATH } from '../../schemas/api-prefix.ts'

/** The ready line: exactly these members, for machines. */
export interface ReadyFacts {
  readonly url: string
  readonly docs_url: string
  readonly admin_url: string
  readonly fronts: number
  /** Threads for long sessions of all fronts together. */
  readonly workers: number
  readonly postgres: 'embedded' | 'external'
  readonly redis: 'external' | 'child' | 'in-memory'
  /** A directory, or `s3://bucket/prefix/`. */
  readonly objects: string
  /** What it starts without; `/readyz` tells more. */
  readonly degraded: readonly 'redis'[]
  readonly version: string
}

export interface BannerKeys {
  /** Plain; only at the start that made it, since keys are shown once. */
  readonly inference: string | null
  readonly management: string | null
  /** The file that holds them until the operator deletes it; null when it is gone. */
  readonly file: string | null
}

export interface BannerOptions {
  readonly facts: ReadyFacts
  /** What the settings say; `facts` has what that comes to. */
  readonly configuredWorkers: number
  readonly keys: BannerKeys
  /** Given for TLS, so that the pasted line trusts a certificate of one's own. */
  readonly certFile: string | null
  /** Of a root key that this start made. */
  readonly rootKeyFile: string | null
  readonly hasColour: boolean
}

export function readyLine(facts: ReadyFacts): string {
  return `${JSON.stringify({ event: 'ready', ...facts })}\n`
}

/** What a person sees at the start: where it is, what it runs on, and one line to paste. */
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
  const kind = facts.redis === 'in-memory' ? ' (forgets rate windows when it ends)' : ''
  const note = facts.degraded.includes('redis')
    ? paint(33, ' (cannot be reached: each front holds its share of every limit)')
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
      : [row('Root key', `made in ${rootKeyFile}: back it up, no stored file opens without it`)]),
    ...keyRows(keys, row),
    '',
    '  Try it:',
    `  ${curlLine(facts.url, { keys, certFile })}`,
    '',
  ]
  return `${lines.join('\n')}\n`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

type Row = (name: string, value: string) => string

function keyRows({ inference, management, file }: BannerKeys, row: Row): readonly string[] {
  const kept = file === null ? [] : [row('Keys', `in ${file}; keep them elsewhere and delete it`)]
  if (inference === null || management === null) return kept
  const shown = (name: string, key: string): string => row(name, `${key}  (shown once)`)
  return [shown('Inference', inference), shown('Management', management), ...kept]
}

/** One line that works when pasted. The key of an earlier start is read from its file, never shown again. */
function curlLine(url: string, { keys, certFile }: { keys: BannerKeys; certFile: string | null }): string {
  const pick = `sed -n 's/.*"inference_key": *"\\([^"]*\\)".*/\\1/p'`
  const fromFile = keys.file === null ? '$SLUICE_KEY' : `$(${pick} ${quoted(keys.file)})`
  return [
    'curl -s',
    ...(certFile === null ? [] : ['--cacert', quoted(certFile)]),
    `${url}${API_PREFIX}/embeddings`,
    `-H "Authorization: Bearer ${keys.inference ?? fromFile}"`,
    "-H 'Content-Type: application/json'",
    `-d '{"model":"sluice/lexical-1","input":"Hello","dimensions":8}'`,
  ].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
