import { UPLOADED, type ExampleRequest, type SampleInput } from './example-request.ts'
import { pythonLiteral } from './literals.ts'

/** A program of Python's standard library alone. */
export function pythonOf({ request, url, variable }: SampleInput): string {
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
    ...(upload === 'form' ? FORM : []),
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${request.method}",`,
    `    headers=${headersOf(request, variable)},`,
    ...dataOf(request),
    ')',
    'with urllib.request.urlopen(request) as response:',
    ...answerOf(answer).map((line) => `    ${line}`),
  ].join('\n')
}

/** The library has no forms of its own. */
const FORM = [
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

function headersOf({ keyHeader, contentType, upload }: ExampleRequest, variable: string): string {
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

function dataOf({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return ['    data=form,']
  if (upload === 'raw') return [`    data=open("${UPLOADED}", "rb").read(),`]
  return body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body, '    ')}).encode(),`]
}

function answerOf(answer: ExampleRequest['answer']): readonly string[] {
  if (typeof answer === 'object')
    return [`with open("${answer.file}", "wb") as file:`, '    file.write(response.read())']
  if (answer === 'json') return ['print(json.load(response))']
  return answer === 'text' ? ['print(response.read().decode())'] : ['print(response.status)']
}
