import type { KeyKind } from '../../../../schemas/keys/api-keys.ts'
import { UPLOADED, type ExampleRequest, type SampleInput } from './example-request.ts'
import { jsonLiteral, pythonLiteral, typescriptLiteral } from './literals.ts'
import { WRITTEN_ORIGIN } from '../docs-page.ts'

const ENVIRONMENT = 'process.env'

/** A module for Node that uses its built-in `fetch`. */
function typescriptOf({ request, url, variable }: SampleInput): string {
  const imports = typescriptImports(request)
  return [
    ...imports,
    ...(imports.length > 0 ? [''] : []),
    ...(request.upload === 'form' ? TYPESCRIPT_FORM : []),
    `const response = await fetch(${typescriptLiteral(url)}, {`,
    ...(request.method === 'GET' ? [] : [`  method: '${request.method}',`]),
    `  headers: ${typescriptHeaders(request, variable)},`,
    ...typescriptBody(request),
    '})',
    'if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)',
    typescriptAnswer(request.answer),
  ].join('\n')
}

function typescriptImports({ upload, answer }: ExampleRequest): readonly string[] {
  return [
    ...(upload === null ? [] : ["import { openAsBlob } from 'node:fs'"]),
    ...(typeof answer === 'object' ? ["import { writeFile } from 'node:fs/promises'"] : []),
  ]
}

const TYPESCRIPT_FORM = [
  'const form = new FormData()',
  `form.append('file', await openAsBlob('${UPLOADED}'), '${UPLOADED}')`,
]

function typescriptHeaders({ keyHeader, contentType }: ExampleRequest, variable: string): string {
  const key = `${ENVIRONMENT}['${variable}']`
  const headers = [
    keyHeader === 'Authorization' ? `Authorization: \`Bearer \${${key}}\`` : `'${keyHeader}': ${key} ?? ''`,
    ...(contentType === null ? [] : [`'Content-Type': '${contentType}'`]),
  ]
  return headers.length === 1
    ? `{ ${headers.join('')} }`
    : `{\n${headers.map((header) => `    ${header},\n`).join('')}  }`
}

function typescriptBody({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return ['  body: form,']
  if (upload === 'raw') return [`  body: await openAsBlob('${UPLOADED}'),`]
  return body === undefined ? [] : [`  body: JSON.stringify(${typescriptLiteral(body, '  ')}),`]
}

function typescriptAnswer(answer: ExampleRequest['answer']): string {
  if (typeof answer === 'object')
    return `await writeFile('${answer.file}', new Uint8Array(await response.arrayBuffer()))`
  if (answer === 'json') return 'console.log(JSON.stringify(await response.json(), null, 2))'
  return answer === 'text' ? 'console.log(await response.text())' : 'console.log(response.status)'
}

/** A program that uses only Python's standard library. */
function pythonOf({ request, url, variable }: SampleInput): string {
  const { body, upload, answer } = request
  const isJson = body !== undefined || answer === 'json'
  const modules = [
    ...(isJson ? ['json'] : []),
    'os',
    'urllib.request',
    ...(upload === 'form' ? ['uuid'] : []),
  ]
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    ...(upload === 'form' ? PYTHON_FORM : []),
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${request.method}",`,
    `    headers=${pythonHeaders(request, variable)},`,
    ...pythonData(request),
    ')',
    'with urllib.request.urlopen(request) as response:',
    ...pythonAnswer(answer).map((line) => `    ${line}`),
  ].join('\n')
}

/** Builds the form by hand, since Python's library cannot. */
const PYTHON_FORM = [
  'boundary = uuid.uuid4().hex',
  `with open("${UPLOADED}", "rb") as file:`,
  '    form = (',
  '        f"--{boundary}\\r\\n".encode()',
  `        + b'Content-Disposition: form-data; name="file"; filename="${UPLOADED}"\\r\\n\\r\\n'`,
  '        + file.read()',
  '        + f"\\r\\n--{boundary}--\\r\\n".encode()',
  '    )',
  '',
]

function pythonHeaders({ keyHeader, contentType, upload }: ExampleRequest, variable: string): string {
  const key = `os.environ["${variable}"]`
  const headers = [
    `"${keyHeader}": ${keyHeader === 'Authorization' ? `"Bearer " + ${key}` : key}`,
    ...(contentType === null ? [] : [`"Content-Type": "${contentType}"`]),
    ...(upload === 'form' ? ['"Content-Type": f"multipart/form-data; boundary={boundary}"'] : []),
  ]
  return headers.length === 1
    ? `{${headers.join('')}}`
    : `{\n${headers.map((header) => `        ${header},\n`).join('')}    }`
}

function pythonData({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return ['    data=form,']
  if (upload === 'raw') return [`    data=open("${UPLOADED}", "rb").read(),`]
  return body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body, '    ')}).encode(),`]
}

function pythonAnswer(answer: ExampleRequest['answer']): readonly string[] {
  if (typeof answer === 'object')
    return [`with open("${answer.file}", "wb") as file:`, '    file.write(response.read())']
  if (answer === 'json') return ['print(json.load(response))']
  return answer === 'text' ? ['print(response.read().decode())'] : ['print(response.status)']
}

export const KEY_VARIABLES: Readonly<Record<KeyKind, string>> = {
  inference: 'SLUICE_KEY',
  management: 'SLUICE_MANAGEMENT_KEY',
  intern: 'SLUICE_INTERN_KEY',
  scim: 'SCIM_TOKEN',
}

/** The languages of samples, in the order in which they are shown. */
export const LANGUAGES = {
  curl: { title: 'curl', highlight: 'sh', write: curlOf },
  python: { title: 'Python', highlight: 'python', write: pythonOf },
  typescript: { title: 'TypeScript', highlight: 'ts', write: typescriptOf },
} as const satisfies Readonly<
  Record<string, { title: string; highlight: string; write(input: SampleInput): string }>
>
export type Language = keyof typeof LANGUAGES

/** A program that sends the request, prints or saves the answer, and fails when the answer is an error. */
export function sampleOf(language: Language, request: ExampleRequest, origin = WRITTEN_ORIGIN): string {
  return LANGUAGES[language].write({
    request,
    url: `${origin}${request.path}`,
    variable: KEY_VARIABLES[request.keyKind],
  })
}

function curlOf({ request, url, variable }: SampleInput): string {
  const { keyHeader, contentType, answer } = request
  const value = keyHeader === 'Authorization' ? `Bearer $${variable}` : `$${variable}`
  return [
    `curl -sS --fail-with-body${curlMethod(request)} ${shellText(url)}`,
    `-H "${keyHeader}: ${value}"`,
    ...(contentType === null ? [] : [`-H 'Content-Type: ${contentType}'`]),
    ...curlBody(request),
    ...(typeof answer === 'object' ? [`-o ${answer.file}`] : []),
  ].join(' \\\n  ')
}

/** The option for the method: curl uses GET by default, and POST when it sends a body. */
function curlMethod({ method, body, upload }: ExampleRequest): string {
  const isTaken = method === (body === undefined && upload === null ? 'GET' : 'POST')
  return isTaken ? '' : ` -X ${method}`
}

function curlBody({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return [`-F file=@${UPLOADED}`]
  if (upload === 'raw') return [`--data-binary @${UPLOADED}`]
  return body === undefined ? [] : [`-d ${shellText(jsonLiteral(body))}`]
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
