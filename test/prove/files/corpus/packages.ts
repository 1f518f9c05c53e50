import { existsSync } from 'node:fs'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { extension } from './oracles.ts'
import { LONG_RUN_MS_MAX, run } from './programs.ts'

/** Debian packages with many files of other programs: documentation, pictures, sounds, data. */
const PACKAGES = [
  ...[
    'texlive-latex-recommended-doc',
    'texlive-latex-base-doc',
    'texlive-fonts-recommended-doc',
    'gnuplot-doc',
    'ghostscript-doc',
    'imagemagick-6-doc',
  ],
  ...[
    'python3.11-doc',
    'python-matplotlib-data',
    'python3-matplotlib',
    'r-cran-ggplot2',
    'r-cran-readr',
    'r-cran-data.table',
    'r-cran-dplyr',
  ],
  ...[
    'r-cran-readxl',
    'r-cran-openxlsx',
    'python3-openpyxl',
    'pandoc-data',
    'libreoffice-common',
    'gnome-backgrounds',
    'octave-doc',
    'gnumeric-doc',
  ],
  ...[
    'asterisk-core-sounds-en-wav',
    'asterisk-moh-opsound-wav',
    'chromium-bsu-data',
    'tuxpaint-data',
    'oxygen-sounds',
    'sound-theme-freedesktop',
  ],
  ...[
    'hydrogen-data',
    'lmms-common',
    'mixxx-data',
    'debian-policy',
    'developers-reference',
    'vim-doc',
    'npm',
    'eslint',
    'node-webpack',
    'docutils-doc',
  ],
  ...[
    'gdal-data',
    'proj-data',
    'tzdata',
    'iso-codes',
    'sqlite3-doc',
    'git-doc',
    'python3-sklearn',
    'python3-statsmodels',
    'python3-skimage',
    'graphviz-doc',
  ],
  ...[
    'golang-github-rwcarlsen-goexif-dev',
    'golang-github-spf13-cobra-dev',
    'golang-github-yuin-goldmark-dev',
    'inkscape-tutorials',
    'python-pandas-doc',
  ],
]
/** Files of a kind that are taken, spread over all there are; and bytes of one. */
const FILES_MAX = 700
const FILE_BYTES_MAX = 20_000_000

/** Downloads and unpacks the packages once. They are not installed. @returns files by their extension */
export async function packageFiles(
  folder: string,
  say: (text: string) => void,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const place = `${folder}/packages`
  if (!existsSync(`${place}/unpacked`)) {
    await mkdir(place, { recursive: true })
    say(`${PACKAGES.length} packages of Debian`)
    for (const name of PACKAGES) await run('apt-get', ['download', '-q', name], place, LONG_RUN_MS_MAX)
    await run(
      'sh',
      ['-c', 'for deb in *.deb; do dpkg-deb -x "$deb" partly; done; rm -f *.deb; mv partly unpacked'],
      place,
      LONG_RUN_MS_MAX,
    )
  }
  return sampled(await filesUnder(`${place}/unpacked`))
}

export async function filesUnder(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort()
}

async function sampled(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const byKind = new Map<string, string[]>()
  for (const file of files) {
    const kind = extension(file)
    const known = byKind.get(kind)
    if (known === undefined) byKind.set(kind, [file])
    else known.push(file)
  }
  const taken = new Map<string, readonly string[]>()
  for (const [kind, all] of byKind) {
    const step = Math.max(1, all.length / FILES_MAX)
    const some = Array.from(
      { length: Math.min(all.length, FILES_MAX) },
      (_, nth) => all[Math.floor(nth * step)] ?? '',
    )
    const sizes = await Promise.all(some.map(async (file) => (await stat(file)).size))
    taken.set(
      kind,
      some.filter((_, nth) => (sizes[nth] ?? 0) > 0 && (sizes[nth] ?? 0) <= FILE_BYTES_MAX),
    )
  }
  return taken
}
