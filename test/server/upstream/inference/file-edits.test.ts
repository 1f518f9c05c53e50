import t from 'tap'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { providerBody } from '../../../../src/schemas/inference/provider-body.ts'
import { strictEdits } from '../../../../src/dialects/chat/native-request.ts'
import { fileEdits } from '../../../../src/server/upstream/inference/inline/file-edits.ts'
import { keptChat } from '../../../support/inference/kept-chat.ts'
import { present } from '../../../support/must.ts'

const ID = `file_${'0a'.repeat(16)}`
const OTHER = `file_${'1b'.repeat(16)}`
const PDF = 'application/pdf'

/** The body as a provider gets it, with the content of each file as its id in angle brackets. */
function sent(dialect: Dialect, text: string, types: readonly string[], isStrict = false): string {
  const { body, digest } = keptChat(text, { dialect })
  const files = present(digest.files).map((reference, nth) => ({
    ...reference,
    filename: 'own "name".x',
    mimeType: types[nth] ?? '',
    sizeBytes: 1,
    open: () => Promise.reject(new Error('no test reads it')),
  }))
  const strict = isStrict ? strictEdits(body).edits : []
  return providerBody(body, [...fileEdits(body, files), ...strict])
    .map((piece) => ('file' in piece ? `<${piece.file.id.slice(5, 7)}>` : Buffer.from(piece).toString()))
    .join('')
}

/** What stands around the part, what comes, and what goes out in place of it. */
const AROUND: Readonly<Record<Dialect, (parts: string) => string>> = {
  chat: (parts) => `{ "messages":[{"role":"user","content":[${parts}] }], "x": 1.0 }`,
  responses: (parts) => `{ "input":[{"role":"user","content":[${parts}] }], "x": 1.0 }`,
  messages: (parts) => `{ "max_tokens":1,"messages":[{"role":"user","content":[${parts}] }], "x": 1.0 }`,
}

interface Case {
  readonly dialect: Dialect
  readonly type?: string
  readonly came: string
  readonly went: string
  readonly isStrict?: boolean
}

const NAME = '"filename":"own \\"name\\".x"'
const DATA = `"file_data":"data:${PDF};base64,<0a>"`
const source = (more = ''): string => `{"type":"file","file_id":"${ID}"${more}}`

const inlined = (type: string): string => `{"type":"base64","media_type":"${type}","data":"<0a>"}`
const FILE = '"file":{'
const RESULT = '{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},'
const DOCUMENT = '{"type":"document","source":{"type":"content","content":'

const CASES: readonly Case[] = [
  {
    dialect: 'chat',
    came: `{"type":"file", "file":{"file_id" : "${ID}"}, "more":[1] }`,
    went: `{"type":"file", "file":{${NAME},${DATA}}, "more":[1] }`,
  },
  {
    dialect: 'chat',
    came: `{"type":"file","file":{"filename":"mine","file_id":"${ID}","file_data":null}}`,
    went: `{"type":"file","file":{"filename":"mine",${DATA}}}`,
  },
  {
    dialect: 'chat',
    came: `{"type":"file","file":{"filename":null, "file_data":null, "file_id":"${ID}","detail":"é"}}`,
    went: `{"type":"file","file":{${NAME},${DATA},"detail":"é"}}`,
  },
  {
    dialect: 'chat',
    came: `{"type":"file","cache_control":{"type":"ephemeral"},"file":{"file_id":"${ID}"}}`,
    went: `{"type":"file","file":{${NAME},${DATA}}}`,
    isStrict: true,
  },
  {
    dialect: 'chat',
    came: `{"\\u0074ype":"fil\\u0065","fil\\u0065":{"fil\\u0065_id":"file_${'\\u0030a'.repeat(16)}"}}`,
    went: `{"\\u0074ype":"fil\\u0065","fil\\u0065":{${NAME},${DATA}}}`,
  },
  {
    dialect: 'chat',
    came: `{"type":"text","type":"file",${FILE}"file_id":"x"},${FILE}"file_id":"${OTHER}","file_id":"${ID}"}}`,
    went: `{"type":"text","type":"file","file":{${NAME},${DATA}}}`,
  },
  {
    dialect: 'chat',
    type: 'image/png',
    came: `{"type":"file",${FILE}"file_id":"${ID}","filename":"f"},"image_url":1,"detail":1.0}`,
    went: '{"type":"image_url","image_url":{"url":"data:image/png;base64,<0a>"},"detail":1.0}',
  },
  {
    dialect: 'chat',
    type: 'audio/mpeg',
    came: `{"file":{"cache_control":0,"file_id":"${ID}"},"type":"file"}`,
    went: '{"input_audio":{"data":"<0a>","format":"mp3"},"type":"input_audio"}',
  },
  {
    dialect: 'responses',
    came: `{"type":"input_file","file_id":"${ID}","file_url":null}`,
    went: `{"type":"input_file",${NAME},${DATA}}`,
  },
  {
    dialect: 'responses',
    type: 'image/gif',
    came: `{"type":"input_image","image_url":null,"detail":"high","file_id":"${ID}","image_url":null}`,
    went: '{"type":"input_image","detail":"high","image_url":"data:image/gif;base64,<0a>"}',
  },
  {
    dialect: 'messages',
    came: `{"type":"document","source":${source()},"title":"t","cache_control":{}}`,
    went: `{"type":"document","source":${inlined(PDF)},"title":"t","cache_control":{}}`,
  },
  {
    dialect: 'messages',
    type: 'text/csv',
    came: `{"source":{"file_id":"${ID}","type":"base64","type":"file"},"type":"document"}`,
    went: '{"source":{"media_type":"text/plain","data":"<0a>","type":"text"},"type":"document"}',
  },
  {
    dialect: 'messages',
    type: 'image/webp',
    came: `${RESULT}{"type":"image","source":${source(',"data":null')}}]}`,
    went: `${RESULT}{"type":"image","source":${inlined('image/webp')}}]}`,
  },
  {
    dialect: 'messages',
    type: 'image/jpeg',
    came: `${DOCUMENT}[{"type":"image","source":${source()}}]}}`,
    went: `${DOCUMENT}[{"type":"image","source":${inlined('image/jpeg')}}]}}`,
  },
]

t.test('the content replaces the id, and everything else stays unchanged', (t) => {
  for (const { dialect, type = PDF, came, went, isStrict = false } of CASES)
    t.equal(sent(dialect, AROUND[dialect](came), [type], isStrict), AROUND[dialect](went))
  t.end()
})

t.test('several files of a large body are inlined in their order', (t) => {
  const text = `{"type":"text","text":"${'x'.repeat(INLINE_JSON_BYTES_MAX)}"}`
  const part = (member: string): string => `{"type":"file","file":{${member}}}`
  const parts = [ID, OTHER, ID].map((id) => `"file_id":"${id}"`)
  const came = [part(parts[0] ?? ''), text, ...parts.slice(1).map(part)].join(',')
  const went = sent('chat', AROUND.chat(came), [PDF, PDF, PDF])
  const data = (nth: string): string => part(`${NAME},"file_data":"data:${PDF};base64,<${nth}>"`)
  t.equal(went, AROUND.chat([data('0a'), text, data('1b'), data('0a')].join(',')))
  t.end()
})

t.test('a value that only looks like a file id is passed on unchanged', (t) => {
  const named = `{"type":"file","file":{"file_id":"${ID}"}}`
  const bodies: readonly (readonly [Dialect, string])[] = [
    ['chat', AROUND.chat('{"type":"file","file":{"file_id":"file-abc"}}')],
    ['chat', AROUND.chat(`{"type":"other","file":{"file_id":"${ID}"}}`)],
    ['chat', AROUND.chat(`{"type":"text","text":${JSON.stringify(named)}}`)],
    [
      'chat',
      `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":${JSON.stringify(named)}}}]}]}`,
    ],
    ['chat', `{"messages":[{"role":"user","content":[${named}],"content":"last"}],"metadata":${named}}`],
    [
      'responses',
      `{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":${JSON.stringify(named)}}]}`,
    ],
    ['responses', AROUND.responses(`{"type":"input_file","file_id":"file-${'0a'.repeat(16)}"}`)],
    ['messages', AROUND.messages(`{"type":"tool_use","id":"t","name":"f","input":{"source":${source()}}}`)],
    [
      'messages',
      AROUND.messages(
        '{"type":"document","source":{"type":"file","file_id":"file_011CNha8iCJcU1wXNR6q4V8w"}}',
      ),
    ],
    ['messages', AROUND.messages(`{"type":"image","source":{"type":"other","file_id":"${ID}"}}`)],
  ]
  for (const [dialect, text] of bodies) t.equal(keptChat(text, { dialect }).digest.files, undefined, text)
  t.end()
})
