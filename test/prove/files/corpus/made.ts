import { cp, mkdir } from 'node:fs/promises'
import { each, LONG_RUN_MS_MAX, run } from './programs.ts'

/** Where `tools/corpus` lies, seen from the compiled program. */
const TOOLS = new URL('../../../../../tools/corpus/', import.meta.url)
/** Two cores, which others may need, too. */
const AT_ONCE = 2

interface Made {
  readonly folder: string
  readonly say: (text: string) => void
}

/** Installs the libraries once and lets them write. @returns whether they could be installed */
export async function makeByLibraries({ folder, say }: Made): Promise<boolean> {
  const place = `${folder}/libraries`
  await mkdir(place, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', 'make-office.mjs', 'make-pdf.mjs'])
    await cp(new URL(name, TOOLS), `${place}/${name}`)
  say('installing SheetJS, exceljs, docx, pptxgenjs, pdfkit, pdf-lib and jsPDF')
  const installed = await run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    place,
    LONG_RUN_MS_MAX,
  )
  if (installed.status !== 0) return false
  for (const program of ['make-office.mjs', 'make-pdf.mjs'])
    await run(
      process.execPath,
      [program, `${folder}/made`, program === 'make-pdf.mjs' ? '120' : '150'],
      place,
      LONG_RUN_MS_MAX,
    )
  return true
}

type Command = readonly [program: string, args: readonly string[]]

/** Pictures, recordings and documents by the programs of Debian; each is made once and stays. */
export async function makeByPrograms({ folder, say }: Made): Promise<void> {
  const place = `${folder}/made/programs`
  await mkdir(place, { recursive: true })
  for (const [what, commands] of [
    ['pictures', pictures()],
    ['recordings', recordings()],
    ['documents', documents()],
  ] as const) {
    say(`${what}: ${commands.length} commands`)
    for (const stage of commands) await each(stage, AT_ONCE, ([program, args]) => run(program, args, place))
  }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, nth) => nth)

/** Changes of a source, in turn. */
const PICTURE_OPTIONS = [
  [],
  ['-type', 'Grayscale'],
  ['-colors', '16'],
  ['-interlace', 'Plane'],
  ['-depth', '16'],
  ['-quality', '40'],
  ['-alpha', 'set'],
  ['-monochrome'],
]
const SOURCES = [
  'plasma:',
  'gradient:red-blue',
  'rose:',
  'logo:',
  'xc:white',
  'pattern:checkerboard',
  'plasma:tomato-steelblue',
]
const FOREIGN_PICTURES = [
  'bmp',
  'tiff',
  'ico',
  'psd',
  'jp2',
  'pcx',
  'tga',
  'xcf',
  'miff',
  'sgi',
  'dcm',
  'fits',
  'avif',
  'heic',
  'jxl',
]
const TAGS = ['-Comment=by hand', '-Artist=Anna', '-XMP:Title=Naïve', '-IPTC:Keywords=a', '-GPSLatitude=52']

function pictures(): readonly (readonly Command[])[] {
  const first = numbers(56).flatMap((nth): Command[] => {
    const size = [
      '-size',
      `${20 + 7 * nth}x${30 + 5 * nth}`,
      SOURCES[nth % 7] ?? '',
      ...(PICTURE_OPTIONS[nth % 8] ?? []),
    ]
    return ['png', 'jpg', 'gif', 'webp'].map((type) => ['convert', [...size, `m${nth}.${type}`]])
  })
  const frames = ['xc:red', 'xc:blue', 'plasma:']
  const moving = numbers(8).flatMap((nth) =>
    ['gif', 'webp'].map((type): Command => [
      'convert',
      ['-delay', '10', '-size', `${30 + nth}x30`, ...frames, `moving${nth}.${type}`],
    ]),
  )
  const foreign = FOREIGN_PICTURES.flatMap((type) =>
    numbers(4).map((nth): Command => [
      'convert',
      ['-size', `${30 + nth}x30`, 'plasma:', `foreign${nth}.${type}`],
    ]),
  )
  const tagged = numbers(56).flatMap((nth) =>
    ['jpg', 'png', 'gif', 'webp'].map((type): Command => [
      'exiftool',
      ['-q', ...TAGS, '-o', `tagged${nth}.${type}`, `m${nth}.${type}`],
    ]),
  )
  return [[...first, ...moving, ...foreign], tagged]
}

const RATES = [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000]
const SAMPLES = ['16', '24', '8']
const TONES = ['sine', 'pinknoise', 'pluck', 'square']
const LAME_RATES = [
  ['-b', '128'],
  ['-V', '2'],
  ['-V', '9'],
  ['--abr', '160'],
  ['-b', '320'],
  ['-b', '64', '-m', 'm'],
  ['-b', '96', '-p'],
]
const LAME_TAGS = [
  [],
  ['--tt', 'Title', '--id3v2-only'],
  ['--tt', 'Title', '--ta', 'Anna', '--id3v1-only'],
  ['--tt', 'Naïve', '--add-id3v2'],
]
const FOREIGN_RECORDINGS = ['m4a', 'aac', 'aiff', 'au', 'mp2', 'ac3', 'wma', 'caf', 'mka', 'wv', 'tta']
const FILMS = ['mp4', 'mkv', 'avi', 'mov', 'webm', 'flv', 'mpg', 'ts', 'wmv', 'ogv', '3gp']

function recordings(): readonly (readonly Command[])[] {
  const waves = numbers(70).map((nth): Command => {
    const sample = nth % 10 === 9 ? ['-e', 'floating-point', '-b', '32'] : ['-b', SAMPLES[nth % 3] ?? '16']
    const format = ['-r', String(RATES[nth % 7]), '-c', String(1 + (nth % 2)), ...sample]
    return [
      'sox',
      ['-n', ...format, `w${nth}.wav`, 'synth', `${1 + (nth % 4)}`, TONES[nth % 4] ?? 'sine', '440'],
    ]
  })
  const others = numbers(70).flatMap((nth): Command[] => {
    const begin = [
      '-v',
      'error',
      '-y',
      '-i',
      `w${nth}.wav`,
      '-metadata',
      'title=Naïve',
      '-metadata',
      'comment=words',
    ]
    return [
      [
        'lame',
        [
          '--quiet',
          ...(LAME_RATES[nth % 7] ?? []),
          ...(LAME_TAGS[nth % 4] ?? []),
          `w${nth}.wav`,
          `l${nth}.mp3`,
        ],
      ],
      ['ffmpeg', [...begin, '-c:a', 'libmp3lame', `f${nth}.mp3`]],
      ['ffmpeg', [...begin, `f${nth}.flac`]],
      ['ffmpeg', [...begin, '-c:a', 'libvorbis', `f${nth}.ogg`]],
      ['ffmpeg', [...begin, '-c:a', 'libopus', `o${nth}.ogg`]],
      ['ffmpeg', [...begin, `f${nth}.wav`]],
      ['ffmpeg', [...begin, '-rf64', 'always', `rf64-${nth}.wav`]],
      ['sh', ['-c', `ffmpeg -v error -i w${nth}.wav -f wav - > pipe${nth}.wav`]],
      ['sh', ['-c', `sox w${nth}.wav -t wav - > soxpipe${nth}.wav`]],
      ['flac', ['-s', '-f', '-o', `x${nth}.flac`, `w${nth}.wav`]],
      ['oggenc', ['-Q', '-o', `v${nth}.ogg`, `w${nth}.wav`]],
    ]
  })
  return [waves, [...others, ...numbers(4).flatMap(foreignRecordings)]]
}

function foreignRecordings(nth: number): readonly Command[] {
  const quiet = ['-v', 'error', '-y']
  const film = [...quiet, '-f', 'lavfi', '-i', 'testsrc=size=128x96:rate=10', '-t', '1']
  return [
    ...FOREIGN_RECORDINGS.map((type): Command => [
      'ffmpeg',
      [...quiet, '-i', `w${nth}.wav`, `foreign${nth}.${type}`],
    ]),
    ...FILMS.map((type): Command => [
      'ffmpeg',
      [...film, ...(type === 'ogv' ? ['-c:v', 'libtheora'] : []), `film${nth}.${type}`],
    ]),
  ]
}

function documents(): readonly (readonly Command[])[] {
  const write = ['-q', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite']
  const first = numbers(30).flatMap((nth): Command[] => {
    const page = `/Helvetica 20 selectfont 72 500 moveto (${nth}) show showpage`
    return [
      ['convert', [`m${nth}.png`, `i${nth}.pdf`]],
      ['gs', [...write, `-dCompatibilityLevel=1.${3 + (nth % 5)}`, `-sOutputFile=g${nth}.pdf`, '-c', page]],
    ]
  })
  const second = numbers(60).flatMap((nth): Command[] => {
    const from = `../${['pdfkit', 'pdf-lib', 'jspdf'][nth % 3]}/${nth}.pdf`
    return [
      ['qpdf', ['--linearize', from, `lin${nth}.pdf`]],
      ['qpdf', ['--object-streams=generate', from, `obj${nth}.pdf`]],
      ['qpdf', ['--qdf', from, `qdf${nth}.pdf`]],
      ['qpdf', ['--encrypt', '', 'owner', '256', '--', from, `enc${nth}.pdf`]],
      ['mutool', ['clean', '-gg', from, `clean${nth}.pdf`]],
      ['mutool', ['clean', '-d', from, `plain${nth}.pdf`]],
      ['exiftool', ['-q', '-Title=Naïve', '-o', `title${nth}.pdf`, from]],
      ['gs', [...write, `-sOutputFile=gs${nth}.pdf`, from]],
    ]
  })
  return [first, second]
}
