import t, { type Test } from 'tap'
import { SCIM_RESULTS_MAX } from '../../../src/schemas/scim/scim-limits.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { openFront, SCIM_KEY } from '../../support/front.ts'
import { failureIn } from '../../support/scim/scim-errors.ts'

const ORIGIN = 'https://sluice.example'
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

interface Attribute {
  readonly name: string
  readonly type: string
  readonly multiValued: boolean
  readonly subAttributes?: readonly Attribute[]
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>> & {
    readonly Resources: readonly { readonly id: string }[]
    readonly attributes: readonly Attribute[]
  }
}

async function openDiscovery(t: Test) {
  const operations = OPERATIONS.filter(({ tag, area }) => area === 'scim' && tag === 'scim')
  const { url } = await openFront(t, operations, { ports: { publicOrigin: ORIGIN } as Ports })
  return async (path: string, method = 'GET', body?: string): Promise<Answer> => {
    const init = {
      method,
      headers: { authorization: `Bearer ${SCIM_KEY}` },
      ...(body !== undefined && { body }),
    }
    const answer = await fetch(`${url}/scim/v2${path}`, init)
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
    }
  }
}

t.test('scim.get_config 200: the supported features, and no others', async (t) => {
  const ask = await openDiscovery(t)
  const { status, headers, body } = await ask('/ServiceProviderConfig')
  t.same([status, headers.get('content-type')], [200, 'application/scim+json'])
  t.same(
    { ...body, authenticationSchemes: [], documentationUri: '' },
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      documentationUri: '',
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: SCIM_RESULTS_MAX },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
      authenticationSchemes: [],
      meta: { resourceType: 'ServiceProviderConfig', location: `${ORIGIN}/scim/v2/ServiceProviderConfig` },
    },
  )
  t.match(body['authenticationSchemes'], [{ type: 'oauthbearertoken', primary: true }])
})

t.test('scim.list_resource_types 200: users with their extension, and groups', async (t) => {
  const ask = await openDiscovery(t)
  const { status, body } = await ask('/ResourceTypes')
  t.equal(status, 200)
  t.match(body, {
    schemas: [LIST],
    totalResults: 2,
    startIndex: 1,
    itemsPerPage: 2,
    Resources: [
      {
        id: 'User',
        endpoint: '/Users',
        schema: USER,
        schemaExtensions: [{ schema: ENTERPRISE, required: false }],
      },
      { id: 'Group', endpoint: '/Groups', schema: GROUP, schemaExtensions: [] },
    ],
  })
  t.equal(body.Resources.length, 2)
})

t.test('scim.get_resource_type 200: a resource type read by id equals its entry in the list', async (t) => {
  const ask = await openDiscovery(t)
  const {
    body: { Resources },
  } = await ask('/ResourceTypes')
  for (const resource of Resources) {
    const { status, body } = await ask(`/ResourceTypes/${resource.id}`)
    t.same([status, body], [200, resource])
    t.match(body, {
      meta: { resourceType: 'ResourceType', location: `${ORIGIN}/scim/v2/ResourceTypes/${resource.id}` },
    })
  }
})

t.test('scim.list_schemas 200: returns the schemas of users, groups and the user extension', async (t) => {
  const ask = await openDiscovery(t)
  const { status, body } = await ask('/Schemas')
  t.equal(status, 200)
  t.match(body, {
    schemas: [LIST],
    totalResults: 3,
    Resources: [{ id: USER }, { id: GROUP }, { id: ENTERPRISE }],
  })
})

t.test('scim.get_schema 200: a schema read by URN in any letter case equals its list entry', async (t) => {
  const ask = await openDiscovery(t)
  const {
    body: { Resources },
  } = await ask('/Schemas')
  for (const resource of Resources) {
    for (const id of [resource.id, resource.id.toUpperCase(), encodeURIComponent(resource.id)]) {
      const { status, body } = await ask(`/Schemas/${id}`)
      t.same([status, body], [200, resource])
    }
  }
})

t.test(
  'attributes have every characteristic of RFC 7643 §7 and unique names, and none is a password',
  async (t) => {
    const ask = await openDiscovery(t)
    const characteristics = [
      'caseExact',
      'description',
      'multiValued',
      'mutability',
      'name',
      'required',
      'returned',
      'type',
      'uniqueness',
    ]
    const check = (attributes: readonly Attribute[]): void => {
      const names = attributes.map(({ name }) => name)
      t.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length)
      for (const attribute of attributes) {
        t.match(
          Object.keys(attribute)
            .sort()
            .filter((name) => characteristics.includes(name)),
          characteristics,
        )
        t.match(attribute.name, /^\$?[a-zA-Z][\w-]*$/)
        t.equal(attribute.subAttributes !== undefined, attribute.type === 'complex', attribute.name)
        check(attribute.subAttributes ?? [])
      }
    }
    for (const id of [USER, GROUP, ENTERPRISE]) {
      const {
        body: { attributes },
        text,
      } = await ask(`/Schemas/${id}`)
      check(attributes)
      t.notMatch(text, /password/i)
    }
  },
)

for (const [id, path] of [
  ['get_config', '/ServiceProviderConfig'],
  ['list_resource_types', '/ResourceTypes'],
  ['list_schemas', '/Schemas'],
] as const) {
  t.test(`scim.${id} refuses a filter, because a client would take all resources for matches`, async (t) => {
    const ask = await openDiscovery(t)
    for (const filter of ['?filter=id%20eq%20%22User%22', '?filter=']) {
      const answer = await ask(`${path}${filter}`)
      t.same([answer.status, failureIn(answer.text, answer)], [403, 'scim_filter_refused'])
    }
    const twice = await ask(`${path}?filter=a&filter=b`)
    t.same([twice.status, failureIn(twice.text, twice)], [400, 'query_invalid'])
    t.equal(
      (await ask(`${path}?startIndex=7&count=1&sortBy=id&attributes=id`)).status,
      200,
      'what else RFC 7644 §4 names is ignored',
    )
  })
}

t.test('scim.get_config 400: a repeated filter', async (t) => {
  const reported = await (await openDiscovery(t))('/ServiceProviderConfig?filter=a&filter=b')
  t.same([reported.status, failureIn(reported.text, reported)], [400, 'query_invalid'])
})

t.test('scim.list_resource_types 400: a query that cannot be decoded', async (t) => {
  const reported = await (await openDiscovery(t))('/ResourceTypes?filter=%E0%A4')
  t.same([reported.status, failureIn(reported.text, reported)], [400, 'query_invalid'])
})

t.test('scim.list_schemas 400: a query that cannot be decoded', async (t) => {
  const reported = await (await openDiscovery(t))('/Schemas?filter=%E0%A4')
  t.same([reported.status, failureIn(reported.text, reported)], [400, 'query_invalid'])
})

t.test('scim.get_resource_type 400, 404: an id that cannot be decoded, and unknown ids', async (t) => {
  const ask = await openDiscovery(t)
  for (const [id, status, failure] of [
    ['%ff', 400, 'params_invalid'],
    ['user', 404, 'scim_resource_unknown'],
    ['Me', 404, 'scim_resource_unknown'],
  ] as const) {
    const answer = await ask(`/ResourceTypes/${id}`)
    t.same([answer.status, failureIn(answer.text, answer)], [status, failure])
  }
})

t.test('scim.get_schema 400, 404: an id that cannot be decoded, and unknown ids', async (t) => {
  const ask = await openDiscovery(t)
  const cases = [
    ['%ff', 400, 'params_invalid'],
    ['User', 404, 'scim_resource_unknown'],
    [`${USER}:x`, 404, 'scim_resource_unknown'],
  ] as const
  for (const [id, status, failure] of cases) {
    const answer = await ask(`/Schemas/${id}`)
    t.same([answer.status, failureIn(answer.text, answer)], [status, failure])
  }
})

t.test('scim.refuse_me 501: a token does not represent a user, for any method and body', async (t) => {
  const ask = await openDiscovery(t)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await ask('/Me', method, method === 'GET' ? undefined : '{"a":1}')
    t.same([answer.status, failureIn(answer.text, answer)], [501, 'scim_unsupported'], method)
    t.match(answer.body, { detail: /`\/Me`, because/ })
  }
  t.same([(await ask('/Me', 'HEAD')).status, (await ask('/Me/', 'GET')).status], [501, 501])
})

t.test('scim.refuse_bulk 501: bulk requests are not supported, and other methods get 405', async (t) => {
  const ask = await openDiscovery(t)
  const answer = await ask('/Bulk', 'POST', '{"Operations":[]}')
  t.same([answer.status, failureIn(answer.text, answer)], [501, 'scim_unsupported'])
  t.same([(await ask('/Bulk')).status, (await ask('/Bulk')).headers.get('allow')], [405, 'POST'])
})

t.test('scim.refuse_search 501: a search over all resource types is not supported', async (t) => {
  const answer = await (await openDiscovery(t))('/.search', 'POST', '{}')
  t.same([answer.status, failureIn(answer.text, answer)], [501, 'scim_unsupported'])
})
