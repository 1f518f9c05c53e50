/** A browser of the machine: none is downloaded. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const BROWSERS: readonly string[] = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Null when there is none on the PATH: what needs one is skipped, and says so. */
export const browserFile: string | null =
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => BROWSERS.map((name) => join(folder, name)))
    .find((path) => existsSync(path)) ?? null
