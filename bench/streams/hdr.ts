/** The histograms of a load test in the log format of HdrHistogram, which its tools read. */
import { writeFileSync } from 'node:fs'
import { HistogramLogWriter } from 'hdr-histogram-js'
import { histogramOf, type FoundCell } from './rows.ts'

const TIMES = { first_token: 'first', gap: 'gap', total: 'total' } as const

/**
 * A line for each cell, repeat and kind of time, with the tag `<kind>:<cell>`; values are microseconds.
 * @param startedAtMs epoch milliseconds of the test
 */
export function writeHdr(file: string, cells: readonly FoundCell[], startedAtMs: number): void {
  let text = ''
  const writer = new HistogramLogWriter((line) => (text += line))
  writer.outputLogFormatVersion()
  writer.outputComment('[Values are microseconds.]')
  writer.outputStartTime(startedAtMs)
  writer.outputLegend()
  for (const { name, results } of cells)
    for (const result of results)
      for (const [kind, member] of Object.entries(TIMES)) {
        const histogram = histogramOf(result[member])
        histogram.startTimeStampMsec = result.startedAtMs
        histogram.endTimeStampMsec = result.startedAtMs + result.seconds * 1_000
        // A tag has neither commas nor spaces.
        histogram.tag = `${kind}:${name}`.replaceAll(' ', '_')
        writer.outputIntervalHistogram(histogram)
      }
  writeFileSync(file, text)
}
