import { Option, type Command } from 'commander'
import { KEY_OVERLAP_S_DEFAULT } from '../../../schemas/keys/key-limits.ts'
import type { ApiKeys, KeyChanges } from '../../ports/keys/api-keys.ts'
import { openApiKeys } from '../../store/keys/api-key-management.ts'
import { callLimitsFrom } from '../parts/call-limit-options.ts'
import { nameOf, need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import {
  addLimitOptions,
  allowedModelsOf,
  burstFrom,
  expiryOf,
  limitsOf,
  needKey,
  overlapOf,
  rateOf,
  scopesOf,
  warnOfModels,
  type LimitOptions,
} from './key-options.ts'
import { linesOf, wireOf } from './key-text.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, print } from '../parts/verb.ts'

/** Keys of every organization: a hash identifies one key. */
export function keysOf({ store, publish, rateLimitRpm }: DatabaseHandle): ApiKeys {
  return openApiKeys({ store, publish, rateLimitRpm })
}

/** Description of the argument by which verbs name a key. */
export const KEY_TEXT = 'key name, hash or hash prefix'

export function addGet(group: Command): void {
  addVerb(group, 'get', 'show a key with its limits and usage')
    .argument('<key>', KEY_TEXT)
    .action((named: string, options: { json?: boolean }) =>
      withDatabase(async (database) => {
        const hash = await idOf(database.store.sql, 'key', named)
        const key = need(await keysOf(database).get({ organizationId: null, hash }), {
          name: hash,
          list: 'keys list',
        })
        print(options, wireOf(key), linesOf(key))
      }),
    )
}

interface UpdateOptions extends LimitOptions {
  readonly json?: boolean
  readonly name?: string
  readonly state?: 'on' | 'off'
}

export function addUpdate(group: Command): void {
  const verb = addVerb(group, 'update', 'change a key on all nodes')
    .argument('<key>', KEY_TEXT)
    .option('--name <name>', 'name of the key', nameOf)
    .addOption(
      new Option('--state <on|off>', 'off: refuse calls with the key until the key is on again').choices([
        'on',
        'off',
      ]),
    )
  addLimitOptions(verb).action((named: string, options: UpdateOptions, command: Command) => {
    const changes = changesOf(options)
    if (Object.keys(changes).length === 0)
      command.error('error: give at least one option to change; see --help', { exitCode: 2 })
    return withDatabase(async (database) => {
      const by = { ...database.by, operation: 'cli.keys-update' }
      const hash = await idOf(database.store.sql, 'key', named)
      const key = needKey(await keysOf(database).update({ organizationId: null, hash }, changes, by), {
        name: hash,
        list: 'keys list',
      })
      print(options, wireOf(key), linesOf(key))
      warnOfModels(changes.allowedModels)
    })
  })
}

function changesOf(options: UpdateOptions): KeyChanges {
  const { name, state } = options
  const rateLimitRpm = rateOf(options)
  const rateLimitBurst = burstFrom(options)
  const allowedModels = allowedModelsOf(options)
  const scopes = scopesOf(options)
  return {
    ...limitsOf(options),
    ...callLimitsFrom(options),
    ...(name !== undefined && { name }),
    ...(state !== undefined && { isDisabled: state === 'off' }),
    ...(rateLimitRpm !== undefined && { rateLimitRpm }),
    ...(rateLimitBurst !== undefined && { rateLimitBurst }),
    ...(allowedModels !== undefined && { allowedModels }),
    ...(scopes !== undefined && { scopes }),
  }
}

export function addRotate(group: Command): void {
  addVerb(
    group,
    'rotate',
    'replace a key: create a new one, print it once, and keep the old one working for a while',
  )
    .argument('<key>', KEY_TEXT)
    .option('--overlap <seconds>', 'how long both keys work, in seconds', overlapOf, KEY_OVERLAP_S_DEFAULT)
    .option(
      '--expires <instant>',
      'expiry of the new key (ISO 8601 with an offset); default: the expiry of the old key',
      expiryOf,
    )
    .action((named: string, options: { json?: boolean; overlap: number; expires?: Date }) =>
      withDatabase(async (database) => {
        const { overlap: overlapS, expires: expiresAt } = options
        const by = { ...database.by, operation: 'cli.keys-rotate' }
        const input = { overlapS, ...(expiresAt !== undefined && { expiresAt }) }
        const hash = await idOf(database.store.sql, 'key', named)
        const { apiKey, key, previous } = need(
          await keysOf(database).rotate({ organizationId: null, hash }, input, by),
          { name: hash, list: 'keys list' },
        )
        const endsAt = previous.expiresAt.toISOString()
        print(
          options,
          { key, ...wireOf(apiKey), previous: { hash: previous.hash, expires_at: endsAt } },
          `${key}\nhash ${apiKey.hash}\nThe key is not shown again. The old key works until ${endsAt}.`,
        )
      }),
    )
}
