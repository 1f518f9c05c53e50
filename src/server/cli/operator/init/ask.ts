import { defaultOf, faultOf, type Answers, type SettingName } from './answers.ts'

/** Asks questions at a terminal. Each question throws CliFailure when the user cancels it. */
export interface Asker {
  text(question: Question): Promise<string>
  /** Hides the typed text. */
  hidden(question: Omit<Question, 'initial'>): Promise<string>
  choose<T extends string>(message: string, choices: readonly Choice<T>[], initial: T): Promise<T>
}

export interface Question {
  readonly message: string
  /** The answer if the user only presses Enter. */
  readonly initial: string
  /** Returns the fault of an answer; undefined: none. */
  check(text: string): string | undefined
}

export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

/** The answers of one run of the verb, in order. */
class Talk {
  readonly #asker: Asker
  readonly #answers: Partial<Record<SettingName, string>>

  constructor(asker: Asker, given: Answers) {
    this.#asker = asker
    this.#answers = { ...given }
  }

  get answers(): Answers {
    return this.#answers
  }

  async text(name: SettingName, message: string, initial = defaultOf(name)): Promise<void> {
    const check = (text: string): string | undefined => this.#fault(name, text)
    this.#answers[name] = (
      await this.#asker.text({ message, initial: this.#answers[name] ?? initial, check })
    ).trim()
  }

  async hidden(name: SettingName, message: string): Promise<void> {
    this.#answers[name] = (
      await this.#asker.hidden({ message, check: (text) => this.#fault(name, text) })
    ).trim()
  }

  async mayBeEmpty(name: SettingName, message: string): Promise<void> {
    const check = (text: string): string | undefined =>
      text.trim() === '' ? undefined : this.#fault(name, text)
    const text = (await this.#asker.text({ message, initial: this.#answers[name] ?? '', check })).trim()
    if (text === '') this.leaveOut(name)
    else this.#answers[name] = text
  }

  choose<T extends string>(message: string, choices: readonly Choice<T>[], initial: T): Promise<T> {
    return this.#asker.choose(message, choices, initial)
  }

  leaveOut(...names: readonly SettingName[]): void {
    for (const name of names) delete this.#answers[name]
  }

  #fault(name: SettingName, text: string): string | undefined {
    const { [name]: _before, ...others } = this.#answers
    return faultOf(name, text, others)
  }
}

/** Asks for everything that a first node needs; known values are offered as defaults. */
export async function askAll(
  asker: Asker,
  given: Answers,
  rootKeyFile: (answers: Answers) => string | undefined,
): Promise<Answers> {
  const talk = new Talk(asker, given)
  await talk.text('SLUICE_DATA', 'Data folder, where the node stores everything')
  await talk.text('SLUICE_HOST', 'Address to listen on; 0.0.0.0 means all addresses of this machine')
  await talk.text('SLUICE_PORT', 'Port for API calls')
  await talk.text(
    'SLUICE_ADMIN_PORT',
    'Port for the operator (dashboard, metrics), reachable only from this machine',
  )
  await askTls(talk)
  await askStore(talk, 'DATABASE_URL', {
    name: 'Postgres',
    form: 'postgres://user:password@host/database',
    embedded: 'stored in the data folder',
  })
  await askStore(talk, 'REDIS_URL', {
    name: 'Redis',
    form: 'redis://host:port',
    embedded: 'a redis-server on this machine, or one in memory',
  })
  await askObjects(talk)
  const keyFile = rootKeyFile(talk.answers)
  if (keyFile === undefined) return talk.answers
  await talk.text(
    'SLUICE_ROOT_KEY_FILE',
    'File with the root key that encrypts all stored files and secrets; created if missing',
    keyFile,
  )
  return talk.answers
}

async function askTls(talk: Talk): Promise<void> {
  const { SLUICE_TLS_CERT: cert, SLUICE_PUBLIC_URL: publicUrl } = talk.answers
  const how = await talk.choose(
    'TLS',
    [
      { value: 'none', label: 'none', hint: 'callers are on this machine or on your own network' },
      { value: 'files', label: 'handled by the node', hint: 'with a certificate and a key in PEM files' },
      { value: 'proxy', label: 'handled by a proxy in front of the node' },
    ],
    cert !== undefined ? 'files' : publicUrl?.startsWith('https:') === true ? 'proxy' : 'none',
  )
  if (how === 'files') {
    talk.leaveOut('SLUICE_TLS_KEY')
    await talk.text('SLUICE_TLS_CERT', 'Certificate file')
    await talk.text('SLUICE_TLS_KEY', 'Private key file')
  } else talk.leaveOut('SLUICE_TLS_CERT', 'SLUICE_TLS_KEY')
  if (how === 'none') return talk.leaveOut('SLUICE_PUBLIC_URL')
  await talk.text('SLUICE_PUBLIC_URL', 'Public URL of the API, such as https://sluice.example')
}

async function askStore(
  talk: Talk,
  setting: 'DATABASE_URL' | 'REDIS_URL',
  { name, form, embedded }: { readonly name: string; readonly form: string; readonly embedded: string },
): Promise<void> {
  const isGiven = talk.answers[setting] !== undefined
  const which = await talk.choose(
    name,
    [
      { value: 'embedded', label: 'embedded', hint: embedded },
      ...(isGiven ? [{ value: 'given', label: `the server in ${setting}` } as const] : []),
      { value: 'own', label: isGiven ? 'another server' : 'your own server' },
    ],
    isGiven ? 'given' : 'embedded',
  )
  if (which === 'embedded') talk.leaveOut(setting)
  if (which === 'own') await talk.hidden(setting, `Server URL: ${form}`)
}

async function askObjects(talk: Talk): Promise<void> {
  const { SLUICE_OBJECTS: given } = talk.answers
  const where = await talk.choose(
    'Stored files',
    [
      { value: 'data', label: 'in the data folder' },
      { value: 'folder', label: 'in another folder' },
      {
        value: 'bucket',
        label: 'in a bucket',
        hint: 'S3 or a compatible server; required for more than one node',
      },
    ],
    given === undefined ? 'data' : given.startsWith('s3://') ? 'bucket' : 'folder',
  )
  if (where !== 'bucket')
    talk.leaveOut('SLUICE_S3_ENDPOINT', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')
  if (where === 'data') return talk.leaveOut('SLUICE_OBJECTS')
  if (where === 'folder') return talk.text('SLUICE_OBJECTS', 'Folder')
  await talk.text('SLUICE_OBJECTS', 'Bucket: s3://bucket or s3://bucket/prefix')
  await talk.mayBeEmpty('SLUICE_S3_ENDPOINT', 'URL of the server; leave empty for Amazon S3')
  await talk.text('AWS_REGION', 'Region')
  for (const [name, message] of [
    ['AWS_ACCESS_KEY_ID', 'Access key id'],
    ['AWS_SECRET_ACCESS_KEY', 'Secret access key'],
  ] as const) {
    if (talk.answers[name] === undefined) await talk.hidden(name, message)
  }
}
