import { InvalidArgumentError, Option, type Command } from 'commander'
import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { DESCRIPTION_CHARS_MAX } from '../../../schemas/workspaces/workspace-limits.ts'
import { isSlug } from '../../../schemas/workspaces/workspaces.ts'
import { openGate } from '../../main/egress.ts'
import type { WorkspaceChanges } from '../../ports/workspaces/workspaces.ts'
import {
  addCallLimitOptions,
  callLimitsFrom,
  NONE,
  orNull,
  type CallLimitOptions,
  type None,
} from '../parts/call-limit-options.ts'
import { need } from '../parts/database.ts'
import { loadGeneration } from '../parts/verb.ts'

export type Switch = 'on' | 'off'

/** Settings of a workspace at its creation and later. */
export interface ChangeOptions extends CallLimitOptions {
  readonly description?: string
  readonly callbackUrl?: string
  readonly storageQuota?: number | None
  readonly programme?: Switch
  readonly vaultWrites?: Switch
  readonly byokInBudgets?: Switch
}

export function addChangeOptions(verb: Command): Command {
  return addCallLimitOptions(verb)
    .option(
      '--description <text>',
      `description of at most ${DESCRIPTION_CHARS_MAX} characters`,
      descriptionOf,
    )
    .option('--callback-url <url>', 'default URL for webhooks; "none" removes it')
    .option(
      '--storage-quota <bytes>',
      'storage quota in bytes; "none": the default of the installation',
      (text) => (text === NONE ? NONE : bytesOf(text)),
    )
    .addOption(
      switchOf('--programme <on|off>', 'enable interns (agents) and vaults; off: calls to them return 404'),
    )
    .addOption(
      switchOf('--vault-writes <on|off>', 'allow changes to the workspace vaults; off: changes return 503'),
    )
    .addOption(
      switchOf(
        '--byok-in-budgets <on|off>',
        "count calls with the workspace's own provider keys towards its budgets",
      ),
    )
}

/** The given settings; the callback address is checked as by the API. Throws CliFailure. */
export async function changesOf(options: ChangeOptions): Promise<WorkspaceChanges> {
  const { description, callbackUrl, storageQuota, programme, vaultWrites, byokInBudgets } = options
  if (callbackUrl !== undefined && callbackUrl !== NONE) await checkUrl(callbackUrl)
  return {
    ...callLimitsFrom(options),
    ...(description !== undefined && { description }),
    ...(callbackUrl !== undefined && { defaultCallbackUrl: orNull(callbackUrl) }),
    ...(storageQuota !== undefined && { storageQuotaBytes: orNull(storageQuota) }),
    ...(programme !== undefined && { isInProgramme: programme === 'on' }),
    ...(vaultWrites !== undefined && { mayWriteVault: vaultWrites === 'on' }),
    ...(byokInBudgets !== undefined && { countsByok: byokInBudgets === 'on' }),
  }
}

export function switchOf(flags: string, description: string): Option {
  return new Option(flags, description).choices(['on', 'off'])
}

export function slugOf(text: string): string {
  if (!isSlug(text))
    throw new InvalidArgumentError(
      'Expected 1 to 50 lower-case letters and digits, joined by single hyphens.',
    )
  return text
}

async function checkUrl(url: string): Promise<void> {
  const gate = openGate(loadGeneration().config)
  try {
    need(await checkCallbackUrl(url, { path: '--callback-url', gate, holder: null }))
  } finally {
    await gate.close()
  }
}

function descriptionOf(text: string): string {
  if ([...text].length > DESCRIPTION_CHARS_MAX)
    throw new InvalidArgumentError(`Expected at most ${DESCRIPTION_CHARS_MAX} characters.`)
  return text
}

function bytesOf(text: string): number {
  const bytes = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(bytes))
    throw new InvalidArgumentError('Expected a whole number of bytes, or none.')
  return bytes
}
