import { InvalidArgumentError, Option, type Command } from 'commander'
import { INSTANT_RULES, instantOf } from '../../../schemas/values/instants.ts'
import {
  ALLOWED_MODEL_RULES,
  isAllowedModel,
  LIMIT_RESETS,
  type LimitReset,
} from '../../../schemas/keys/keys.ts'
import { ALLOWED_MODELS_MAX, KEY_OVERLAP_S_MAX } from '../../../schemas/keys/key-limits.ts'
import { RATE_LIMIT_RPM_MAX } from '../../../schemas/limits/rate-limits.ts'
import {
  isKeyScope,
  KEY_SCOPES,
  RESERVED_SCOPE_TEXT,
  type KeyScope,
  modelsRemark,
} from '../../../schemas/keys/permissions.ts'
import { USD_MAX } from '../../../schemas/money/money-limits.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import type { KeyLimits } from '../../ports/keys/api-keys.ts'
import {
  addCallLimitOptions,
  countFrom,
  NONE,
  orNull,
  type CallLimitOptions,
  type None,
} from '../parts/call-limit-options.ts'
import { catalogueChoice } from '../parts/load-models.ts'
import { need, type Lookup } from '../parts/database.ts'
import { CliFailure, loadGeneration } from '../parts/verb.ts'
import { nanoOfUsd } from '../../../schemas/money/costs.ts'

/** Options for a key's limits and use, of `keys create` and `keys update`. */
export interface LimitOptions extends CallLimitOptions {
  readonly limit?: bigint | None
  readonly limitReset?: LimitReset | None
  readonly byok?: 'on' | 'off'
  readonly rpm?: number | None
  readonly burst?: number | None
  readonly allowModel?: readonly string[]
  readonly scopes?: readonly (KeyScope | None)[]
}

export function addLimitOptions(verb: Command): Command {
  const limited = verb
    .option('--limit <usd>', `spending limit in USD, or ${NONE}`, usdOf)
    .option(
      '--limit-reset <interval>',
      `when the limit resets: ${LIMIT_RESETS.join(', ')}, or ${NONE} for a lifetime limit`,
      resetOf,
    )
    .addOption(
      new Option(
        '--byok <on|off>',
        "whether calls with the workspace's own provider keys count towards the limit",
      ).choices(['on', 'off']),
    )
    .option('--rpm <count>', `maximum requests per minute, or ${NONE}`, countFrom(1, RATE_LIMIT_RPM_MAX))
    .option(
      '--burst <count>',
      `maximum requests at once, from 1 to the requests per minute, or ${NONE} for the default`,
      countFrom(1, RATE_LIMIT_RPM_MAX),
    )
  return addCallLimitOptions(limited)
    .option(
      '--scopes <scope...>',
      `scopes of the key: ${KEY_SCOPES.join(', ')}; ${NONE}: all scopes; ${RESERVED_SCOPE_TEXT}`,
      scopeOf,
    )
    .option(
      '--allow-model <model...>',
      `models the key may use, each as ${ALLOWED_MODEL_RULES}; ${NONE}: all models`,
      modelOf,
    )
}

/** The given limits of a key. */
export function limitsOf({ limit, limitReset, byok }: LimitOptions): Partial<KeyLimits> {
  return {
    ...(limit !== undefined && { limitNano: orNull(limit) }),
    ...(limitReset !== undefined && { limitReset: orNull(limitReset) }),
    ...(byok !== undefined && { countsByok: byok === 'on' }),
  }
}

/** Null = all; undefined: the option was not given. */
export function allowedModelsOf({ allowModel }: LimitOptions): readonly string[] | null | undefined {
  return allowModel?.includes(NONE) === true ? null : allowModel
}

/** Null = all; undefined: the option was not given. */
export function scopesOf({ scopes }: LimitOptions): readonly KeyScope[] | null | undefined {
  return scopes?.includes(NONE) === true ? null : scopes?.filter((scope) => scope !== NONE)
}

/** Null = the default; undefined: the option was not given. */
export function burstFrom({ burst }: LimitOptions): number | null | undefined {
  return burst === undefined ? undefined : orNull(burst)
}

/** The value, or a CliFailure; of a burst that does not fit the limit in words of the options. */
export function needKey<T>(outcome: Outcome<T>, lookup?: Lookup): T {
  const issue = outcome.ok ? undefined : outcome.failure.metadata?.issues?.[0]
  if (issue?.path !== '/rate_limit_burst') return need(outcome, lookup)
  const expected = issue.expected.replace('`rate_limit_rpm`', '--rpm').replace(/null$/, `--burst ${NONE}`)
  throw new CliFailure(`--burst ${issue.message}, expected ${expected}.`)
}

/** Null = no limit; undefined: the option was not given. */
export function rateOf({ rpm }: LimitOptions): number | null | undefined {
  return rpm === undefined ? undefined : orNull(rpm)
}

function usdOf(text: string): bigint | None {
  if (text === NONE) return NONE
  const nano = /^\d+(?:\.\d+)?$/.test(text) ? nanoOfUsd(Number(text)) : null
  if (nano === null) throw new InvalidArgumentError(`Expected USD from 0 to ${USD_MAX}, or ${NONE}.`)
  return nano
}

function resetOf(text: string): LimitReset | None {
  if (text === NONE) return NONE
  const found = LIMIT_RESETS.find((reset) => reset === text)
  if (found === undefined) throw new InvalidArgumentError(`Expected ${LIMIT_RESETS.join(', ')} or ${NONE}.`)
  return found
}

function modelOf(text: string, before: readonly string[] = []): readonly string[] {
  if (text !== NONE && !isAllowedModel(text))
    throw new InvalidArgumentError(`Expected ${ALLOWED_MODEL_RULES}, or ${NONE}.`)
  if (before.length === ALLOWED_MODELS_MAX)
    throw new InvalidArgumentError(`A key allows at most ${ALLOWED_MODELS_MAX} models.`)
  return [...before, text]
}

/** Parses scopes, separated by blanks or commas. */
function scopeOf(text: string, before: readonly (KeyScope | None)[] = []): readonly (KeyScope | None)[] {
  const named = text.split(',').map((name) => {
    if (name === NONE || isKeyScope(name)) return name
    throw new InvalidArgumentError(`Expected ${KEY_SCOPES.join(', ')}, or ${NONE}.`)
  })
  return [...new Set([...before, ...named])]
}

/** Parses `--overlap`. */
export function overlapOf(text: string): number {
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds > KEY_OVERLAP_S_MAX)
    throw new InvalidArgumentError(`Expected a number of seconds from 0 to ${KEY_OVERLAP_S_MAX}.`)
  return seconds
}

/** Parses `--expires`. */
export function expiryOf(text: string): Date {
  const instant = instantOf(text)
  if (instant === null) throw new InvalidArgumentError(`Expected ${INSTANT_RULES}.`)
  if (instant.getTime() <= Date.now()) throw new InvalidArgumentError('The expiry is in the past.')
  return instant
}

/**
 * Warns of models that a key was given and the catalogue lacks. The key is made by then: a catalogue with
 * mistakes is no failure of the verb.
 */
export function warnOfModels(allowed: readonly string[] | null | undefined): void {
  if (allowed === null || allowed === undefined) return
  const { file: extraFile } = catalogueChoice(loadGeneration().config)
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (!loaded.ok) return
  const remark = modelsRemark(
    allowed,
    loaded.catalogue.models.map(({ id }) => id),
  )
  if (remark !== null) process.stderr.write(`warning: ${remark}\n`)
}
