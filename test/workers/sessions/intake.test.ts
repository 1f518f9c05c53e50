import { createHash, randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { COALESCED_BYTES_MAX } from '../../../src/schemas/files/file-limits.ts'
import { chunks } from '../../support/wire/chunks.ts'
import { must } from '../../support/must.ts'
import { openFiles, openSealed, openSessions, pushAll, reopened, text } from '../../support/files/sessions.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

t.test('a text is recognized, counted, hashed and sealed, and opens to the same bytes', async (t) => {
  const stand = await openSessions(t)
  const content = text(700_001)
  const verdict = await pushAll(openSealed(stand, 'file_a'), chunks(content, [16_384]))
  t.same(verdict, {
    ok: true,
    value: { mimeType: 'text/plain', sizeBytes: content.length, sha256: sha256(content) },
  })
  t.equal((await stat(join(stand.folder, 'file_a'))).mode & 0o777, 0o600)
  t.notOk(
    (await readFile(join(stand.folder, 'file_a'))).includes('a line of text'),
    'the bytes on disk are sealed',
  )
  t.ok((await reopened(stand, 'file_a', must(verdict))).equals(content))
})

t.test('the stored file does not depend on the chunk borders of the upload', async (t) => {
  const stand = await openSessions(t)
  const content = text(300_000)
  for (const [nth, sizes] of [[1_000, 1, 65_536], [300_000], [COALESCED_BYTES_MAX, 1], [7]].entries()) {
    const id = `file_${nth}`
    const verdict = must(await pushAll(openSealed(stand, id), chunks(content, sizes)))
    t.equal(verdict.sha256, sha256(content))
    t.ok((await reopened(stand, id, verdict)).equals(content), `cut as ${String(sizes)}`)
  }
})

t.test('a program is refused and named, and its descriptor is closed', async (t) => {
  const stand = await openSessions(t)
  const program = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0'), randomBytes(1_000)])
  const session = openSealed(stand, 'file_b')
  t.match(await pushAll(session, [program]), {
    failure: { name: 'content_unsupported', fields: { found: /ELF/, accepted: /PDF/ } },
  })
  await session.cancel()
  t.same(await openFiles(stand), [])
})

t.test('an empty file is refused when content is required, and accepted otherwise', async (t) => {
  const stand = await openSessions(t)
  t.match(await pushAll(openSealed(stand, 'file_c'), []), { failure: { name: 'file_empty' } })
  const target = { path: join(stand.folder, 'plain'), seal: null }
  const session = must(stand.intake.open({ holder: 'w', target, content: 'type', bytesMax: 10 }))
  t.match(await pushAll(session, []), { value: { mimeType: 'application/octet-stream', sizeBytes: 0 } })
  t.equal((await stat(target.path)).size, 0)
})

t.test('an unsealed file is written unchanged, whatever its content', async (t) => {
  const stand = await openSessions(t)
  const content = randomBytes(400_000)
  const target = { path: join(stand.folder, 'plain'), seal: null }
  const session = must(stand.intake.open({ holder: 'w', target, content: 'any', bytesMax: content.length }))
  t.match(await pushAll(session, chunks(content, [50_000])), {
    value: { mimeType: 'application/octet-stream', sha256: sha256(content) },
  })
  t.ok((await readFile(target.path)).equals(content))
})

t.test('when only the type is detected, refused content gets the generic type', async (t) => {
  const { intake } = await openSessions(t)
  const typed = must(intake.open({ holder: 'w', target: null, content: 'type', bytesMax: 2 ** 40 }))
  t.match(await pushAll(typed, [Buffer.from('{"a":1}')]), { value: { mimeType: 'application/json' } })
  const untyped = must(intake.open({ holder: 'w', target: null, content: 'type', bytesMax: 2 ** 40 }))
  t.match(await pushAll(untyped, [Buffer.from('\x7fELF\0\0\0')]), {
    value: { mimeType: 'application/octet-stream' },
  })
})

t.test('one byte more than allowed fails at once', async (t) => {
  const stand = await openSessions(t)
  const session = openSealed(stand, 'file_d', { bytesMax: 1_000 })
  t.equal(session.push(text(1_000)), true)
  const failure = new Promise((resolve) => session.onFailure(resolve))
  t.equal(session.push(text(1)), false)
  t.match(await failure, { name: 'file_too_large', fields: { limit: 1_000 } })
  t.match(await session.finish(), { failure: { name: 'file_too_large' } })
  await session.cancel()
})

t.test('a staging file that exists is not written to', async (t) => {
  const stand = await openSessions(t)
  await writeFile(join(stand.folder, 'file_e'), 'there')
  const session = openSealed(stand, 'file_e')
  const failure = new Promise((resolve) => session.onFailure(resolve))
  t.match(await failure, { name: 'storage_unavailable', cause: { code: 'EEXIST' } })
  t.equal(await readFile(join(stand.folder, 'file_e'), 'latin1'), 'there')
  await session.cancel()
})
