import { createHash } from 'node:crypto'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import { PRIVATE_ENDPOINTS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type {
  EndpointActor,
  EndpointInput,
  PrivateEndpoint,
} from '../../ports/endpoints/private-endpoints.ts'
import { appendAudit } from '../base/append-audit.ts'
import { newId } from '../base/ids.ts'
import type { Store, Transaction } from '../base/open.ts'
import {
  endpointEvent,
  endpointOf,
  formsColumn,
  priceColumns,
  type EndpointRow,
} from './private-endpoint-rows.ts'
import { violatedUnique } from '../base/translate.ts'

type Created = Outcome<{ readonly endpoint: PrivateEndpoint; readonly isReplay: boolean }>

/** Failures: endpoints_full, idempotency_key_reused, endpoint_unknown. */
export async function createEndpoint(
  store: Store,
  input: EndpointInput,
  by: EndpointActor,
): Promise<Created> {
  const record = input.idempotency === null ? null : recordOf(input.idempotency)
  // The second call under a key waits for the commit of the first, and then finds its row.
  for (;;) {
    try {
      return await store.sql.begin<Created>((tx) => create(tx, { input, record, by }))
    } catch (problem) {
      if (violatedUnique(problem) !== 'private_endpoints_idempotency_key') throw problem
    }
  }
}

interface Birth {
  readonly input: EndpointInput
  readonly record: { readonly id: string; readonly digest: string } | null
  readonly by: EndpointActor
}

async function create(tx: Transaction, { input, record, by }: Birth): Promise<Created> {
  const known = record === null ? null : await lookUp(tx, record)
  if (known !== null) return known
  const { organizationId } = input
  // Creations in one organization run one after another, so that all of them count alike.
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`
  await tx`
    DELETE FROM private_endpoints WHERE organization_id = ${organizationId}
      AND deleted_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms'`
  const [counted] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM private_endpoints WHERE organization_id = ${organizationId} AND deleted_at IS NULL`
  if ((counted?.count ?? 0) >= PRIVATE_ENDPOINTS_MAX)
    return fail('endpoints_full', { fields: { limit: PRIVATE_ENDPOINTS_MAX } })
  const [row] = await tx<EndpointRow[]>`
    INSERT INTO private_endpoints ${tx({
      id: newId(),
      organization_id: organizationId,
      model_permaslug: input.modelPermaslug,
      provider_slug: input.providerSlug,
      upstream_model_id: input.upstreamModelId,
      base_url: input.baseUrl,
      declared_region: input.declaredRegion,
      declared_zdr: input.declaredZdr,
      ...priceColumns(input.pricing),
      secret_name: input.secretName,
      forms: formsColumn(tx, input.forms),
      idempotency_id: record?.id ?? null,
      fields_digest: record?.digest ?? null,
    })} RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  await appendAudit(tx, endpointEvent(by, null, row))
  return ok({ endpoint: endpointOf(row), isReplay: false })
}

async function lookUp(
  tx: Transaction,
  record: { readonly id: string; readonly digest: string },
): Promise<Created | null> {
  const [row] = await tx<(EndpointRow & { readonly isOld: boolean; readonly isGone: boolean })[]>`
    SELECT *, created_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms' AS "isOld", deleted_at IS NOT NULL AS "isGone"
    FROM private_endpoints WHERE idempotency_id = ${record.id} FOR UPDATE`
  if (row === undefined) return null
  if (row.isOld) {
    await tx`UPDATE private_endpoints SET idempotency_id = NULL, fields_digest = NULL WHERE id = ${row.id}`
    return null
  }
  if (row.fields_digest !== record.digest) return fail('idempotency_key_reused')
  return row.isGone ? fail('endpoint_unknown') : ok({ endpoint: endpointOf(row), isReplay: true })
}

/** The key is the caller's text: only its digest is kept. */
function recordOf({ key, apiKeyHash, fields }: NonNullable<EndpointInput['idempotency']>): {
  id: string
  digest: string
} {
  return { id: digestOf(`${apiKeyHash}\n${key}`), digest: digestOf(fields) }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
