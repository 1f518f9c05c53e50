import { Option, type Command } from 'commander'
import {
  ENDPOINT_FORMS,
  type EndpointCheck,
  type EndpointForm,
} from '../../../schemas/endpoints/private-endpoints.ts'
import { validate, type ExaminedEndpoint } from '../../operations/endpoints/validation.ts'
import type { EndpointProber, PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import { openPrivateEndpoints } from '../../store/endpoints/private-endpoints.ts'
import { openGate } from '../../main/egress.ts'
import { openVaultPorts } from '../../main/vault.ts'
import { createProber } from '../../upstream/endpoints/prober.ts'
import { type DatabaseHandle, need, withDatabase } from '../parts/database.ts'
import { inOrganization, organizationOf, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, loadGeneration, print, printList, table } from '../parts/verb.ts'
import { loadChosenModels } from '../parts/load-models.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import { OWN_JOBS } from '../vault/own-vaults.ts'
import { ownRootKeys } from '../vault/root-keys.ts'

interface ValidateOptions extends PlaceOptions {
  readonly forms?: readonly EndpointForm[]
}

const LIST = 'endpoints list'

/** `endpoints list|validate`. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const group = program.command('endpoints').description('list and validate private endpoints')
  inOrganization(addVerb(group, 'list', 'list the private endpoints, oldest first'), 'only').action(
    (options: PlaceOptions) =>
      withDatabase(async (database) => {
        const { store } = database
        const organizationId = await organizationOf(database, options)
        const rows = openPrivateEndpoints({ store, hints: database })
        const endpoints = need(await rows.list(organizationId))
        printList(options, endpoints, wireOf, [
          ['ID', 'STATUS', 'MODEL', 'SPEAKS', 'ADDRESS'],
          (one) => [one.id, one.status, one.modelPermaslug, one.speaks.join(' ') || '-', one.baseUrl],
        ])
      }),
  )
  addValidate(group, outcome)
}

function addValidate(group: Command, outcome: { code: number | null }): void {
  inOrganization(
    addVerb(
      group,
      'validate',
      'send a minimal test request to each API of the endpoint and store the result; exit code 1 on failure',
    ),
    'only',
  )
    .argument('<endpoint>', `endpoint model, id or id prefix (see \`${LIST}\`)`)
    .option(
      '--workspace <ref>',
      'workspace (id or slug) to validate the endpoint for; default: the workspace of the endpoint or, if it has none, the default workspace',
    )
    .addOption(
      new Option(
        '--forms <form...>',
        'APIs that must all pass; default: the APIs named in the draft or, if the draft does not name APIs, at least one API',
      ).choices(ENDPOINT_FORMS),
    )
    .action((named: string, options: ValidateOptions) =>
      withDatabase(async (database) => {
        const id = await idOf(database.store.sql, 'endpoint', named)
        const found = await validated(database, id, options)
        if (!found.passed) outcome.code = 1
        const { passed, checks, forms } = found
        print(options, { data: { passed, checks, forms } }, textOf(found))
      }),
    )
}

async function validated(
  database: DatabaseHandle,
  id: string,
  options: ValidateOptions,
): Promise<ExaminedEndpoint> {
  const { store, by } = database
  const privateEndpoints = openPrivateEndpoints({ store, hints: database })
  const ref = { organizationId: await organizationOf(database, options), id }
  const lookup = { name: id, list: LIST }
  const endpoint = need(await privateEndpoints.get(ref), lookup)
  const named = options.workspace ?? endpoint.workspaceId
  const workspace = await workspaceOf(database, named ?? undefined, { organization: ref.organizationId })
  return withProber(database, async (endpointProber) => {
    const input = {
      ref,
      workspaceId: workspace.id,
      forms: options.forms ?? null,
      by: { ...by, operation: 'cli.endpoints-validate' },
      call: new AbortController(),
    }
    return need(await validate(input, { privateEndpoints, endpointProber }), lookup)
  })
}

function wireOf(endpoint: PrivateEndpoint): object {
  return {
    id: endpoint.id,
    status: endpoint.status,
    model_permaslug: endpoint.modelPermaslug,
    provider_slug: endpoint.providerSlug,
    upstream_model_id: endpoint.upstreamModelId,
    base_url: endpoint.baseUrl,
    workspace_id: endpoint.workspaceId,
    forms: endpoint.forms,
    speaks: endpoint.speaks,
  }
}

/** One line for each probed form; if none was probed, the checks. */
function textOf({ passed, checks, forms }: ExaminedEndpoint): string {
  const verdict = passed ? 'passed' : 'not passed'
  const rows = forms.map(({ form, checks: found, is_unprobed: isUnprobed }) => [
    form,
    isUnprobed === true ? 'not tested: the node was busy' : causeOf(found),
  ])
  return rows.length === 0 ? `${verdict}: ${causeOf(checks)}` : `${table(rows)}\n${verdict}`
}

function causeOf(checks: readonly EndpointCheck[]): string {
  const failed = checks.find((check) => !check.passed)
  if (failed === undefined) return 'passed'
  const { name, reason = 'failed', upstream_status: status, upstream_message: message } = failed
  const detail = message === undefined ? '' : `: ${message}`
  return `${name} ${reason}${status === undefined ? '' : ` (${status})`}${detail}`
}

/**
 * Probes endpoints as the node does: through the gate with the node's settings, and with secrets of its
 * vaults, whose release is audited. Throws CliFailure.
 */
async function withProber<T>(
  { store, publish }: DatabaseHandle,
  use: (prober: EndpointProber) => Promise<T>,
): Promise<T> {
  const { config } = loadGeneration()
  const { providers } = loadChosenModels(config)
  const egress = openGate(config)
  const vault = openVaultPorts({ store, rootKeys: ownRootKeys(), jobs: OWN_JOBS, log: stderrLog, publish })
  try {
    const { releases } = vault.ports
    return await use(
      createProber({ egress, jobs: OWN_JOBS, releases, providers, now: () => performance.now() }),
    )
  } finally {
    await egress.close()
    await vault.close()
  }
}
