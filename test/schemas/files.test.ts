import t from 'tap'
import { Compile } from 'typebox/compile'
import {
  FileAnswer,
  fileAnswer,
  shapeOf,
  type FileShape,
  type ShownFile,
} from '../../src/schemas/files/files.ts'

const FILE: ShownFile = {
  id: 'file_1',
  filename: 'a/b.csv',
  mimeType: 'text/csv',
  sizeBytes: 7,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  isDownloadable: false,
  purpose: null,
}

t.test(
  'the shape depends on the caller: anthropic-version first, then OpenAI by user agent or an x-stainless header',
  async (t) => {
    t.equal(shapeOf({}), 'openrouter')
    t.equal(shapeOf({ 'user-agent': 'curl/8 OpenAI/JS' }), 'openrouter')
    t.equal(shapeOf({ 'user-agent': 'OpenAI/JS 7.55.0' }), 'openai')
    t.equal(shapeOf({ 'x-stainless-lang': 'js' }), 'openai')
    t.equal(shapeOf({ 'x-stainless-lang': 'js', 'anthropic-version': '2023-06-01' }), 'anthropic')
  },
)

t.test('each shape matches the schema, and has its own names for the same facts', async (t) => {
  const check = Compile(FileAnswer)
  for (const shape of ['openrouter', 'anthropic', 'openai'] as const satisfies readonly FileShape[]) {
    t.ok(check.Check(fileAnswer(FILE, shape)), shape)
  }
  t.match(fileAnswer(FILE, 'openai'), {
    bytes: 7,
    created_at: 1767323045,
    purpose: 'user_data',
    status: 'processed',
  })
  t.match(fileAnswer(FILE, 'anthropic'), {
    size_bytes: 7,
    created_at: '2026-01-02T03:04:05.678Z',
    downloadable: false,
  })
  t.match(fileAnswer({ ...FILE, purpose: 'batch' }, 'openai'), { purpose: 'batch' })
})
