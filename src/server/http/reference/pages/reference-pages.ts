import {
  DOCS_PATH,
  ERRORS_PATH,
  GUIDES_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
} from '../../../../schemas/api-prefix.ts'
import { prefixOf, type AnyOperation } from '../../../operations/define.ts'
import { TAGS, type TagName } from '../../../operations/tags.ts'
import { METHODS_OF_ANY } from '../../call/route-table.ts'
import { isObject } from '../members/described.ts'
import type { Json } from '../openapi-json.ts'
import { openApiOf } from '../openapi.ts'
import { KEY_VARIABLES, LANGUAGES, sampleOf } from '../samples/samples.ts'
import { exampleRequestOf } from '../samples/example-request.ts'
import { blockOf } from './highlight.ts'
import { escaped, inline } from './html.ts'
import { methodOf, operationSection, webhookSection } from './operation-section.ts'
import { shellOf, turnsOf } from './shell.ts'

export interface ReferencePage {
  /** Path on a node. */
  readonly path: string
  readonly title: string
  readonly html: string
}

/** The script that sends calls from the page. */
const SCRIPTS = [`${DOCS_PATH}/reference.js`]
/** Titles that differ from the capitalized tag. */
const TITLES: Readonly<Partial<Record<TagName, string>>> = {
  inference: 'Chat, responses, messages',
  keys: 'API keys',
  'private-endpoints': 'Private endpoints',
  'group-mappings': 'Group mappings',
  activity: 'Activity',
  audit: 'Audit log',
  admin: 'Jobs, webhooks, storage',
  egress: 'Requests with secrets',
  scim: 'SCIM',
}

interface Group {
  readonly tag: TagName
  readonly path: string
  readonly title: string
  readonly operations: readonly AnyOperation[]
}

/** The first page of the reference, and one for each tag of operations. */
export function referencePages(operations: readonly AnyOperation[]): readonly ReferencePage[] {
  // Converted to JSON as a node sends it, so that everything JSON cannot express is removed.
  const document = JSON.parse(JSON.stringify(openApiOf(operations))) as Json
  const groups = groupsOf(operations)
  return [
    { path: DOCS_PATH, title: 'API reference', html: firstPage(groups, operations) },
    ...groups.map((group, at) => ({
      path: group.path,
      title: group.title,
      html: groupPage(groups, at, document),
    })),
  ]
}

function groupsOf(operations: readonly AnyOperation[]): readonly Group[] {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  const order = Object.keys(TAGS) as TagName[]
  return order
    .filter((tag) => tags.includes(tag))
    .map((tag) => ({
      tag,
      path: `${REFERENCE_PATH}/${tag}`,
      title: TITLES[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1),
      operations: operations.filter((one) => one.tag === tag),
    }))
}

function firstPage(groups: readonly Group[], operations: readonly AnyOperation[]): string {
  const lists = groups.map(({ title, path, tag, operations: members }) => {
    const items = members.map((one) => {
      const call = `<small><code>${methodOf(one)} ${escaped(prefixOf(one) + one.path)}</code></small>`
      return `<li><a href="${path}#${one.id}">${inline(one.summary)}</a> ${call}</li>`
    })
    const head = `<h2 id="${tag}"><a href="${path}">${title}</a></h2>\n<p>${inline(TAGS[tag].text)}</p>\n`
    return `${head}<ul class="operations">\n${items.join('\n')}\n</ul>\n`
  })
  const body = `<h1>API reference</h1>\n${introduction(operations)}${lists.join('')}`
  return shellOf({ title: 'API reference', body, all: listOf(groups), scripts: SCRIPTS })
}

/** The introduction common to all calls, with the first sample. */
function introduction(operations: readonly AnyOperation[]): string {
  const first = operations.find(({ id }) => id === 'embeddings.create') ?? operations[0]
  const sample =
    first === undefined ? '' : blockOf(sampleOf('curl', exampleRequestOf(first)), LANGUAGES.curl.highlight)
  return `<p>Every call carries a key: <code>Authorization: Bearer …</code>. In the samples an inference key is
<code>$${KEY_VARIABLES.inference}</code>, a management key <code>$${KEY_VARIABLES.management}</code> and the token of an identity
provider <code>$${KEY_VARIABLES.scim}</code>; <a href="${GUIDES_PATH}/#first-call">First call</a> sets the first two.</p>
${sample}<p>Every error has the same form and an <code>error_type</code>: <a href="${GUIDES_PATH}/errors">Errors</a>, and
<a href="${ERRORS_PATH}">all error types</a>. Programs read <a href="${OPENAPI_PATH}">the OpenAPI document</a>.</p>
`
}

function groupPage(groups: readonly Group[], at: number, document: Json): string {
  const group = groups[at]
  if (group === undefined) throw new Error(`there is no group ${at}`)
  const { tag, title, operations } = group
  const guide = TAGS[tag]
  const sections = operations.map((operation) =>
    operationSection(operation, { document, operation: documentedOperation(operation, document) }),
  )
  const body = [
    `<h1>${title}</h1>\n<p>${inline(guide.text)} <a href="${GUIDES_PATH}/${guide.guide}">Guide</a></p>\n`,
    ...sections,
    ...webhooksOf(tag, document),
    turnsOf(groups[at - 1] ?? { path: DOCS_PATH, title: 'API reference' }, groups[at + 1] ?? null),
  ].join('')
  return shellOf({ title: `${title} · API reference`, body, all: listOf(groups, tag), scripts: SCRIPTS })
}

function documentedOperation({ path, method }: AnyOperation, document: Json): Json {
  const [first = 'get'] = METHODS_OF_ANY
  const found = memberOf(memberOf(memberOf(document, 'paths'), path), method === 'any' ? first : method)
  if (!isObject(found)) throw new Error(`the document has no ${method} ${path}`)
  return found
}

function webhooksOf(tag: TagName, document: Json): readonly string[] {
  const webhooks = memberOf(document, 'webhooks')
  return Object.entries(isObject(webhooks) ? webhooks : {}).flatMap(([name, item]) => {
    const operation = memberOf(item, 'post')
    const tags = memberOf(operation, 'tags')
    return isObject(operation) && Array.isArray(tags) && tags.includes(tag)
      ? [webhookSection(name, { document, operation })]
      : []
  })
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function listOf(groups: readonly Group[], current?: TagName): string {
  const items = groups.map(
    ({ tag, path, title }) =>
      `<li><a href="${path}"${tag === current ? ' aria-current="page"' : ''}>${title}</a></li>`,
  )
  return `<h2>API reference</h2>\n<ul>\n${items.join('\n')}\n</ul>`
}
