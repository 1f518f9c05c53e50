import {
  existsSync,
  fsyncSync,
  closeSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { commandName, terminalPreferences } from '../../config.ts'
import { quoted } from '../../config/program-name.ts'
import { draftOf, syncFolder } from '../../supervisor/data-directory/own-folder.ts'
import { makeRootKeyFile } from '../../vault/root-keys.ts'
import {
  answersGiven,
  checkAnswers,
  checkGiven,
  fileText,
  HIDDEN,
  OPTIONS,
  overruled,
  rootKeyFileFor,
  withDefaults,
  type Answers,
  type SettingName,
} from './init/answers.ts'
import { askAll } from './init/ask.ts'
import { addVerb, CliFailure, pasteable, print } from '../parts/verb.ts'

interface Options {
  readonly yes?: boolean
  readonly force?: boolean
  readonly json?: boolean
}

const FILE = 'sluice.json'

/** `init`. */
export function addTo(program: Command): void {
  const verb = addVerb(
    program,
    'init',
    'write a settings file: interactively on a terminal, otherwise from options and defaults',
  )
    .argument('[file]', 'file to write', FILE)
    .option('--yes', 'do not ask questions')
    .option('--force', 'replace an existing file; a root key is never replaced')
  const texts = new Map<SettingName, string>()
  for (const { setting, flags, about } of OPTIONS) {
    verb.option(flags, `${about} (${setting})`, (text: string) => void texts.set(setting, text))
  }
  verb.addHelpText(
    'after',
    `\n${HIDDEN.join(', ')} and settings without an option are read from the environment.`,
  )
  verb.action(async (name: string, options: Options) => {
    const file = resolve(name)
    if (options.force !== true && existsSync(file)) throw new CliFailure(isThere(file))
    const given: Answers = { ...answersGiven(), ...Object.fromEntries(texts) }
    checkGiven(given)
    const answers = withDefaults(await answersOf(file, given, options))
    checkAnswers(answers)
    tell(options, { file, answers, ...write(file, answers, options.force === true) })
  })
}

async function answersOf(file: string, given: Answers, { yes = false }: Options): Promise<Answers> {
  const { isUnattended, isDumb } = terminalPreferences()
  const mayAsk = process.stdin.isTTY && process.stderr.isTTY && !isUnattended && !isDumb && !yes
  const keyFileOf = (answers: Answers): string | undefined => rootKeyFileFor(file, answers)
  if (mayAsk) {
    const { openTerminal } = await import('./init/terminal.ts')
    return askAll(openTerminal('Sluice: settings file'), given, keyFileOf)
  }
  const keyFile = keyFileOf(given)
  return keyFile === undefined ? given : { ...given, SLUICE_ROOT_KEY_FILE: keyFile }
}

/**
 * Writes the settings and the root key. The settings file gets its final name after the key exists: a node
 * does not start with a file that names a missing key.
 */
function write(file: string, answers: Answers, isForced: boolean): { readonly madeRootKey: string | null } {
  const { SLUICE_ROOT_KEY_FILE: givenFile } = answers
  const keyFile = givenFile === undefined ? null : resolve(givenFile)
  const isNew = keyFile !== null && !existsSync(keyFile)
  const draft = draftOf(file)
  try {
    writeDraft(draft, fileText(answers))
    // Another user may have put the key file there and know its key.
    if (isNew && !makeRootKeyFile(keyFile))
      throw new CliFailure(`${keyFile} already exists, so no root key was created`)
    // Without --force a file that was created meanwhile is kept.
    if (isForced) renameSync(draft, file)
    else linkSync(draft, file)
    rmSync(draft, { force: true })
    syncFolder(dirname(file))
  } catch (cause) {
    rmSync(draft, { force: true })
    if (!(cause instanceof Error) || !('code' in cause)) throw cause
    throw new CliFailure(
      cause.code === 'EEXIST' ? isThere(file) : `${file} cannot be written: ${cause.message}`,
      { cause },
    )
  }
  return { madeRootKey: isNew ? keyFile : null }
}

/** Writes a file for its owner only and syncs it to the disk. */
function writeDraft(draft: string, text: string): void {
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const BACK_IT_UP =
  'back it up now: stored files and secrets cannot be decrypted without it; `sluice vault confirm-root COPY` records the backup'

interface Done {
  readonly file: string
  readonly answers: Answers
  readonly madeRootKey: string | null
}

function tell(options: Options, { file, answers, madeRootKey }: Done): void {
  const others = overruled(answers)
  const next = `SLUICE_CONFIG=${quoted(file)} ${commandName()} serve`
  const lines = [
    `wrote ${file}; readable only by its owner`,
    ...(madeRootKey === null ? [] : [`created the root key ${madeRootKey}: ${pasteable(BACK_IT_UP)}`]),
    ...(others.length === 0
      ? []
      : [`variables of this shell take precedence over the file: ${others.join(', ')}`]),
    `next: ${next}`,
  ]
  print(
    options,
    {
      file,
      root_key_file: answers.SLUICE_ROOT_KEY_FILE ?? null,
      made_root_key: madeRootKey !== null,
      overruled: others,
      next,
    },
    lines.join('\n'),
  )
}

function isThere(file: string): string {
  return `${file} already exists; use --force to replace it`
}
