import { deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { createContentScanner } from '../../../src/workers/content/scanner.ts'
import { chunk, gif, jpeg, png, riffChunk, webp } from '../../support/corpus/images.ts'
import { flac, frames, id3, page, wav } from '../../support/corpus/audio.ts'
import { DOCX, office } from '../../support/corpus/office-writer.ts'
import { bytes, noise, u32le } from '../../support/corpus/bytes.ts'
import { pdf } from '../../support/corpus/binaries.ts'
import { zip } from '../../support/corpus/zip-writer.ts'

const archive = zip([{ name: 'a.txt', data: noise(60) }])
const program = bytes('MZ', Buffer.alloc(58), u32le(64), 'PE\0\0', [0x64, 0x86], noise(60))

/** What nothing may be as well, each as another program writes it. */
const INTRUDERS: readonly (readonly [string, Uint8Array])[] = [
  ['zip', archive],
  ['rar', bytes('Rar!\x1a\x07\x01\0', noise(60))],
  ['7z', bytes('7z\xbc\xaf\x27\x1c\0\x04', noise(60))],
  ['gzip', gzipSync('hello')],
  ['tar', bytes('a.txt', Buffer.alloc(252), 'ustar\x0000', Buffer.alloc(247))],
  ['xz', bytes('\xfd7zXZ\0\0\x04', noise(60))],
  ['bzip2', bytes('BZh91AY&SY', noise(60))],
  ['zstd', bytes('\x28\xb5\x2f\xfd\x04\x58', noise(60))],
  ['elf', bytes('\x7fELF', [2, 1, 1, 0], noise(60))],
  ['windows program', program],
  ['mach-o', bytes([0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1], noise(60))],
  ['page', bytes('<!DOCTYPE html>\n<html><body>hi</body></html>')],
  ['script tag', bytes('<ScRiPt>alert(1)</sCrIpT>')],
  ['picture of lines', bytes('<svg onload="alert(1)"></svg>')],
  ['php', bytes('<?php system($_GET[0]); ?>')],
  ['phar', bytes('<?php __HALT_COMPILER(); ?>\r\n', noise(60))],
  ['shell script', bytes('#!/bin/sh\nrm -r "$HOME"\n')],
  ['javascript', bytes('*/=1;alert(document.cookie)//')],
  ['python', bytes('\nimport os\nos.system("id")\n')],
  ['batch file', bytes('\r\n@echo off\r\ndel *.*\r\n')],
]

const HOSTS: readonly (readonly [string, Uint8Array])[] = [
  ['png', png()],
  ['jpeg', jpeg()],
  ['gif', gif()],
  ['webp', webp],
  ['wav', wav],
  ['mp3', frames(900)],
  ['ogg', bytes(page(2, 1, bytes('OpusHead', noise(20))), page(4, 1, noise(900)))],
  ['pdf', pdf()],
  ['docx', office('word/document.xml', DOCX)],
]

function isAccepted(file: Uint8Array): boolean {
  const scanner = createContentScanner()
  for (let at = 0; at < file.length; at += 777) scanner.push(new Uint8Array(file.subarray(at, at + 777)))
  return scanner.finish(file.length).ok
}

for (const [name, host] of HOSTS) {
  t.test(`${name}: refuses content of another kind after it`, async (t) => {
    t.ok(isAccepted(host), 'the file itself')
    const passed = INTRUDERS.filter(([, intruder]) => isAccepted(bytes(host, intruder)))
    t.same(
      passed.map(([intruder]) => intruder),
      [],
    )
  })
  t.test(`${name}: refuses content of another type after a line break, zeros or fill bytes`, async (t) => {
    const rooms = ['\r\n', Buffer.alloc(3_000), Buffer.alloc(300, 0xff)]
    const passed = INTRUDERS.filter(([, intruder]) =>
      rooms.some((room) => isAccepted(bytes(host, room, intruder))),
    )
    t.same(
      passed.map(([intruder]) => intruder),
      [],
    )
  })
  t.test(`${name}: refuses content of another kind before it`, async (t) => {
    const passed = INTRUDERS.filter(([, intruder]) => isAccepted(bytes(intruder, host)))
    t.same(
      passed.map(([intruder]) => intruder),
      [],
    )
  })
}

/** Kinds whose marks do not occur by chance, and so are found after any other bytes, too. */
const BEHIND_NOISE = INTRUDERS.filter(([name]) => !['javascript', 'python', 'batch file'].includes(name))

for (const [name, host] of HOSTS.filter(([name]) => name !== 'ogg')) {
  t.test(`${name}: refuses the file when other bytes precede it`, async (t) => {
    const passed = BEHIND_NOISE.filter(([, intruder]) => isAccepted(bytes(host, noise(5_000, 3), intruder)))
    t.same(
      passed.map(([intruder]) => intruder),
      [],
    )
  })
}

const segment = (data: Uint8Array): Buffer =>
  bytes([0xff, 0xfe, (data.length + 2) >>> 8, (data.length + 2) & 0xff], data)

/** Places inside a file where bytes of any kind may stand. */
const INSIDE: readonly (readonly [string, (inner: Uint8Array) => Uint8Array])[] = [
  ['a JPEG comment', (inner) => jpeg(segment(inner))],
  ['a GIF comment', (inner) => gif([0x21, 0xfe], inner.length, inner, 0)],
  [
    'a PNG text',
    (inner) =>
      bytes(
        png().subarray(0, 33),
        chunk('tEXt', inner),
        chunk('IDAT', deflateSync(noise(9))),
        chunk('IEND', bytes()),
      ),
  ],
  [
    'a WAV chunk',
    (inner) => {
      const note = riffChunk('note', inner)
      return bytes('RIFF', u32le(wav.length - 8 + note.length), wav.subarray(8), note)
    },
  ],
  ['an ID3 tag', (inner) => bytes(id3(inner.length).subarray(0, 10), inner, frames(30))],
]
const INTO = INTRUDERS.filter(([name]) =>
  ['zip', 'rar', '7z', 'page', 'script tag', 'php', 'phar'].includes(name),
)

for (const [name, make] of INSIDE) {
  t.test(`${name}: refuses an added archive that archive readers find, an HTML page and PHP`, async (t) => {
    t.ok(isAccepted(make(bytes('words of all kinds'))), 'with words')
    t.same(
      INTO.filter(([, inner]) => isAccepted(make(inner))).map(([intruder]) => intruder),
      [],
    )
  })
}

t.test('flac: refuses content of another type in its audio', async (t) => {
  t.same(
    BEHIND_NOISE.filter(([, intruder]) => isAccepted(bytes(flac, intruder))).map(([intruder]) => intruder),
    [],
  )
})
