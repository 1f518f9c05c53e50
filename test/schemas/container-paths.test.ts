import fc from 'fast-check'
import t from 'tap'
import {
  PATH_SEGMENT_BYTES_MAX,
  containerFileId,
  isContainerId,
  parseContainerPath,
  pathOfContainerFileId,
} from '../../src/schemas/containers/container-paths.ts'
import {
  CONTAINER_ID_CHARS_MAX,
  CONTAINER_ID_PART_CHARS_MAX,
  CONTAINER_PATH_BYTES_MAX,
  PATH_SEGMENTS_MAX,
} from '../../src/schemas/files/file-limits.ts'

t.test('refuses paths that leave the container or have an invalid form', async (t) => {
  const refused = [
    '',
    '/',
    '/etc/passwd',
    '..',
    '../a',
    'a/..',
    'a/../b',
    './a',
    'a/./b',
    'a//b',
    'a/',
    '//a',
    'a\0b',
    '\0',
    '.',
    'a/\ud800',
    'x'.repeat(PATH_SEGMENT_BYTES_MAX + 1),
    'é'.repeat(128),
    `a${'/a'.repeat(PATH_SEGMENTS_MAX)}`,
    `${'a'.repeat(200)}/`.repeat(4) + 'a',
    'a/'.repeat(CONTAINER_PATH_BYTES_MAX),
  ]
  t.same(
    refused.filter((path) => parseContainerPath(path) !== null),
    [],
  )
})

t.test('every other path is kept unchanged', async (t) => {
  const kept = [
    'a',
    'out/report.csv',
    '...',
    '..a/b..',
    'a b',
    'A/a',
    'e\u0301',
    '\u00e9',
    'a\\b',
    'a\nb',
    '~',
    'C:',
    '%2e%2e',
    'x'.repeat(255),
  ]
  t.same(
    kept.map((path) => parseContainerPath(path)),
    kept,
  )
})

t.test('the id of a path decodes to the same path', async (t) => {
  t.equal(containerFileId('out/report.csv'), 'cfile_b3V0L3JlcG9ydC5jc3Y')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), (text) => {
      const path = parseContainerPath(text)
      return path === null || pathOfContainerFileId(containerFileId(path)) === path
    }),
  )
})

t.test('an id of a refused path, and a second spelling of an id, are invalid', async (t) => {
  const refused = [
    'file_b3V0',
    'cfile_',
    'cfile_b3V0L3JlcG9ydC5jc3Y=',
    'cfile_b3V0L3JlcG9ydC5jc3Z',
    'cfile_b3V0 L3JlcG9ydC5jc3Y',
    'cfile_a+/b',
    ...['../../etc/passwd', '/etc/passwd', 'a\0', 'a//b'].map(containerFileId),
    `cfile_${Buffer.from([0x61, 0xff]).toString('base64url')}`,
  ]
  t.same(
    refused.filter((id) => pathOfContainerFileId(id) !== null),
    [],
  )
})

t.test('container ids have one of three forms', async (t) => {
  const good = [
    'a',
    'A_-9',
    'x'.repeat(40),
    `sess_${'x'.repeat(64)}`,
    `gen_${'x'.repeat(64)}`,
    'sess_abc-r1f2',
  ]
  t.same(
    good.filter((id) => !isContainerId(id)),
    [],
  )
  const bad = [
    '',
    '.',
    '..',
    'a/b',
    'a.b',
    'a\n',
    'x'.repeat(CONTAINER_ID_CHARS_MAX + 1),
    `sess_${'x'.repeat(CONTAINER_ID_PART_CHARS_MAX + 1)}`,
    'é',
    'a b',
  ]
  t.same(
    bad.filter((id) => isContainerId(id)),
    [],
  )
  const longest = [
    'x'.repeat(CONTAINER_ID_CHARS_MAX),
    `sess_${'x'.repeat(CONTAINER_ID_PART_CHARS_MAX)}`,
    `gen_${'x'.repeat(CONTAINER_ID_PART_CHARS_MAX)}`,
  ]
  t.same(
    longest.filter((id) => !isContainerId(id)),
    [],
  )
})
