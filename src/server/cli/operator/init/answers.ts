import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Settings } from '../../../../schemas/operator/settings.ts'
import { ConfigInvalid, readFrom, settingsGiven } from '../../../config.ts'
import type { Problem, Texts } from '../../../config/texts.ts'
import { openRootKeys, ROOT_KEY_FILE } from '../../../vault/root-keys.ts'

export type SettingName = keyof typeof Settings.properties & string

/** Texts of settings as answered; a missing setting keeps its default. */
export type Answers = Readonly<Partial<Record<SettingName, string>>>

/** Settings with an option. Settings that contain passwords have no option, since all users of a machine can see arguments. */
export const OPTIONS: readonly {
  readonly setting: SettingName
  readonly flags: string
  readonly about: string
}[] = [
  { setting: 'SLUICE_DATA', flags: '--data <folder>', about: 'data folder' },
  { setting: 'SLUICE_HOST', flags: '--host <address>', about: 'address to listen on' },
  { setting: 'SLUICE_PORT', flags: '--port <port>', about: 'port for API calls' },
  { setting: 'SLUICE_ADMIN_PORT', flags: '--admin-port <port>', about: 'port for the dashboard and metrics' },
  { setting: 'SLUICE_PUBLIC_URL', flags: '--public-url <url>', about: 'public origin of the API' },
  { setting: 'SLUICE_TLS_CERT', flags: '--tls-cert <file>', about: 'PEM file' },
  { setting: 'SLUICE_TLS_KEY', flags: '--tls-key <file>', about: 'PEM file' },
  {
    setting: 'SLUICE_OBJECTS',
    flags: '--objects <place>',
    about: 'storage for files: a folder or s3://bucket/prefix',
  },
  { setting: 'SLUICE_S3_ENDPOINT', flags: '--s3-endpoint <url>', about: 'URL of an S3-compatible server' },
  { setting: 'AWS_REGION', flags: '--region <name>', about: 'region of the bucket' },
  { setting: 'SLUICE_ROOT_KEY_FILE', flags: '--root-key <file>', about: 'root key file; created if missing' },
]

/** Settings that are read from the environment or a hidden prompt. */
export const HIDDEN = [
  'DATABASE_URL',
  'REDIS_URL',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
] as const satisfies readonly SettingName[]

const ASKED: ReadonlySet<string> = new Set([...OPTIONS.map(({ setting }) => setting), ...HIDDEN])
/** Settings with paths: relative to the shell that runs the verb, not to a folder where the node may run later. */
const PATHS = [
  'SLUICE_DATA',
  'SLUICE_TLS_CERT',
  'SLUICE_TLS_KEY',
  'SLUICE_ROOT_KEY_FILE',
] as const satisfies readonly SettingName[]
const COUNTS: ReadonlySet<string> = new Set<SettingName>(['SLUICE_PORT', 'SLUICE_ADMIN_PORT'])

/** Settings of the environment: defaults of the questions. */
export function answersGiven(): Answers {
  return Object.fromEntries(Object.entries(settingsGiven()).filter(([name]) => ASKED.has(name)))
}

/** Adds the settings that the file always contains, so that it has the same effect in another folder and in a later version. */
export function withDefaults(answers: Answers): Answers {
  const written = (['SLUICE_DATA', 'SLUICE_HOST', 'SLUICE_PORT', 'SLUICE_ADMIN_PORT'] as const).map(
    (name) => [name, defaultOf(name)],
  )
  return { ...Object.fromEntries(written), ...answers }
}

export function defaultOf(name: SettingName): string {
  const schema = Settings.properties[name]
  return 'default' in schema ? String(schema.default) : ''
}

/** The fault of an answer in combination with the others; undefined: none. */
export function faultOf(name: SettingName, text: string, others: Answers): string | undefined {
  if (text.trim() === '') return 'An answer is required.'
  const found = problemsOf({ ...others, [name]: text.trim() }).find((problem) => problem.name === name)
  return found === undefined ? undefined : (found.said ?? `Expected ${found.expected}.`)
}

/** Throws ConfigInvalid with all faults of the given settings; missing ones are no fault yet. */
export function checkGiven(given: Answers): void {
  const problems = problemsOf(given).filter(({ name }) => Object.hasOwn(given, name))
  if (problems.length > 0) throw new ConfigInvalid(problems)
}

/** Throws ConfigInvalid with all faults. */
export function checkAnswers(answers: Answers): void {
  const problems = problemsOf(answers)
  if (problems.length > 0) throw new ConfigInvalid(problems)
}

/** The problems that a start would find; a root key that is created later is not one of them. */
function problemsOf(answers: Answers): readonly Problem[] {
  const { SLUICE_ROOT_KEY_FILE: keyFile, ...others } = answers
  const isToBeMade = keyFile !== undefined && !existsSync(keyFile)
  const reading = readFrom(isToBeMade ? others : answers)
  const problems = reading.ok ? [] : reading.problems
  const isReadable =
    keyFile !== undefined && !isToBeMade && problems.every(({ name }) => name !== 'SLUICE_ROOT_KEY_FILE')
  return isReadable ? [...problems, ...keyFaults(keyFile, answers)] : problems
}

function keyFaults(
  file: string,
  { SLUICE_DATA: dataDir = defaultOf('SLUICE_DATA') }: Answers,
): readonly Problem[] {
  try {
    openRootKeys({ setting: null, file: resolve(file), dataDir: resolve(dataDir) })
    return []
  } catch (problem) {
    return [
      {
        name: 'SLUICE_ROOT_KEY_FILE',
        said: problem instanceof Error ? problem.message : String(problem),
        expected: '',
        got: '',
      },
    ]
  }
}

/**
 * File of the root key: the given one, else one next to the settings file. Undefined if a key exists already,
 * in the environment or in the data folder.
 */
export function rootKeyFileFor(configFile: string, answers: Answers): string | undefined {
  const { SLUICE_ROOT_KEY_FILE: givenFile, SLUICE_DATA: dataDir = defaultOf('SLUICE_DATA') } = answers
  if (givenFile !== undefined) return givenFile
  if (settingsGiven()['SLUICE_ROOT_KEY'] !== undefined || existsSync(join(resolve(dataDir), ROOT_KEY_FILE)))
    return undefined
  return join(dirname(configFile), 'sluice-root-key')
}

/** The text of the file: paths are absolute, numbers plain, in the order of the settings. */
export function fileText(answers: Answers): string {
  const whole: Record<string, string> = { ...answers }
  for (const name of PATHS) if (whole[name] !== undefined) whole[name] = resolve(whole[name])
  const objects = whole['SLUICE_OBJECTS']
  if (objects !== undefined && !objects.startsWith('s3://')) whole['SLUICE_OBJECTS'] = resolve(objects)
  const members = Object.keys(Settings.properties).flatMap((name) => {
    const text = whole[name]
    return text === undefined ? [] : [[name, COUNTS.has(name) ? Number(text) : text] as const]
  })
  return `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`
}

/** Settings in the environment that differ from the answers and would override them at a start. */
export function overruled(answers: Answers): readonly string[] {
  const texts: Texts = settingsGiven()
  return Object.keys(texts).filter((name) => texts[name] !== answers[name as SettingName])
}
