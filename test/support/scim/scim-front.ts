/** A front with the SCIM service, and identity providers of two organizations. */
import type { Test } from 'tap'
import type { Attributes } from '../../../src/schemas/scim/scim-attributes.ts'
import { createScimToken } from '../../../src/server/store/scim/scim-tokens.ts'
import { CLI } from '../audit/audit.ts'
import { openInternsFront, type InternsFront } from '../workspaces/interns-front.ts'
import { must } from '../must.ts'

export interface ScimAnswered {
  readonly status: number
  readonly headers: Headers
  /** Null without a body. */
  readonly body: Attributes & { readonly id: string; readonly scimType?: string; readonly detail?: string }
}

interface CallMore {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
}

export interface ScimFront extends Omit<InternsFront, 'call'> {
  readonly manage: InternsFront['call']
  /** As the identity provider of the organization. @param path below `/scim/v2` */
  call(method: string, path: string, more?: CallMore): Promise<ScimAnswered>
  /** Makes a user. */
  user(userName: string, more?: object): Promise<string>
  /** Makes a group. */
  group(displayName: string, userIds?: readonly string[]): Promise<string>
  /** A PATCH with operations. */
  patch(path: string, ...operations: readonly object[]): Promise<ScimAnswered>
  /** User names, sorted. */
  members(groupId: string): Promise<readonly string[]>
  /** Events of the organization's log. */
  events(): Promise<number>
  readonly foreignToken: string
}

export async function openScimFront(t: Test): Promise<ScimFront> {
  const front = await openInternsFront(t)
  const { store, organizationId } = front
  const base = front.url.replace('/api/v1', '/scim/v2')
  const [foreign] = await store.sql<
    { id: string }[]
  >`SELECT id FROM organizations WHERE id <> ${organizationId}`
  const tokenOf = async (id: string): Promise<string> =>
    must(await createScimToken(store, { organizationId: id, name: 'idp', expiresAt: null }, CLI)).key
  const own = await tokenOf(organizationId)
  const call: ScimFront['call'] = async (method, path, { body, headers = {}, token = own } = {}) => {
    const answer = await fetch(base + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await call('POST', path, { body })
    if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.id
  }
  return {
    ...front,
    manage: front.call,
    call,
    user: (userName, more = {}) => made('/Users', { userName, ...more }),
    group: (displayName, userIds = []) =>
      made('/Groups', { displayName, members: userIds.map((value) => ({ value })) }),
    patch: (path, ...operations) =>
      call('PATCH', path, {
        body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations },
      }),
    members: async (groupId) => {
      const { members } = (await call('GET', `/Groups/${groupId}`)).body as unknown as {
        members: readonly { display: string }[]
      }
      return members.map(({ display }) => display).sort()
    },
    events: async () => {
      const [row] = await store.sql<
        { count: number }[]
      >`SELECT count(*)::int AS count FROM audit WHERE organization_id = ${organizationId}`
      return row?.count ?? 0
    },
    foreignToken: await tokenOf(foreign?.id ?? ''),
  }
}
