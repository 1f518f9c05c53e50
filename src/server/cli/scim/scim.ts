import type { Command } from 'commander'
import {
  createScimToken,
  listScimTokens,
  revokeScimToken,
  type ScimToken,
} from '../../store/scim/scim-tokens.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { expiryOf } from '../keys/key-options.ts'
import { inOrganization, organizationIfAny, organizationOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, print, printList } from '../parts/verb.ts'

/** `scim tokens create|list|revoke`. */
export function addTo(program: Command): void {
  const scim = program.command('scim').description('manage SCIM provisioning by identity providers')
  const group = scim.command('tokens').description('manage bearer tokens of identity providers')
  addCreate(group)
  const list = addVerb(group, 'list', 'list tokens, newest first; their values are not shown')
  inOrganization(list, 'all').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const organizationId = await organizationIfAny(database, options)
      const tokens = need(await listScimTokens(database.store, organizationId))
      printList(options, tokens, wireOf, [
        ['ID', 'NAME', 'TOKEN', 'CREATED', 'EXPIRES', 'HASH'],
        ({ id, name, label, hash, createdAt, expiresAt }) => {
          return [id, name, label, createdAt, expiresAt ?? 'never', hash]
        },
      ])
    }),
  )
  addVerb(group, 'revoke', 'delete a token permanently on all nodes')
    .argument('<token>', 'token name, id or id prefix')
    .action((named: string, options: PlaceOptions) =>
      withDatabase(async ({ store, publish, by }) => {
        const id = await idOf(store.sql, 'scim token', named)
        const change = need(await revokeScimToken(store, id, by), { name: id, list: 'scim tokens list' })
        await publish(change)
        print(options, { id, revoked: true, epoch: change.n }, `revoked ${id}`)
      }),
    )
}

function addCreate(group: Command): void {
  inOrganization(addVerb(group, 'create', 'create a token and print it once'), 'only')
    .requiredOption('--name <name>', 'name of the token, such as the name of the identity provider', nameOf)
    .option('--expires <instant>', 'expiry (ISO 8601 with an offset); default: never', expiryOf)
    .action((options: PlaceOptions & { readonly name: string; readonly expires?: Date }) =>
      withDatabase(async (database) => {
        const { store, publish, by } = database
        const { name, expires: expiresAt = null } = options
        const organizationId = await organizationOf(database, options)
        const { token, key, change } = need(
          await createScimToken(store, { organizationId, name, expiresAt }, by),
        )
        await publish(change)
        print(
          options,
          { token: key, ...wireOf(token) },
          `${key}\nid ${token.id}\nThe token is not shown again.`,
        )
      }),
    )
}

function wireOf(token: ScimToken): object {
  return {
    id: token.id,
    organization_id: token.organizationId,
    name: token.name,
    label: token.label,
    hash: token.hash,
    created_by: token.createdBy,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
  }
}
