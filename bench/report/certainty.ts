/** How sure the figures of a page are, and on which machine they were taken. */
import type { Machine } from '../machine.ts'
import type { ResultsFile } from '../record.ts'
import type { Comparison } from './comparisons.ts'
import { counted, duration, figure, isTaken, listed } from './figures.ts'
import { html, type Markup } from './markup.ts'

export function trust(results: ResultsFile, comparisons: readonly Comparison[]): Markup {
  const repeats = comparisons.flatMap((one) => one.repeats ?? [])
  return html`<ul>${[...repeatLines(repeats), ...machineLines(results.machine)].map((text) => html`<li>${text}</li>`)}</ul>`
}

/** Repeats from which the least and most contain the true median with 95 %. */
const REPEATS_FOR_95 = 6

function repeatLines(repeats: readonly number[]): readonly string[] {
  const lines = [
    'Sluice is a self-hosted AI gateway. A scenario puts the same load on it and on others.',
    'Subjects take turns on one machine, and a ratio is taken inside each turn: what slowed the machine down slowed both sides.',
    'An interval is where the median of those ratios lies with 95 % confidence (percentile bootstrap). ' +
      '“No clear difference” is an interval that holds 1, or lies within 2 % of it.',
  ]
  if (repeats.length === 0) return lines
  const [least, most] = [Math.min(...repeats), Math.max(...repeats)]
  const count = least === most ? counted(least, 'time') : `${least} to ${most} times`
  const fewest = Math.min(...repeats.filter((count) => count > 1))
  const few =
    `Of ${fewest} repeats the least and the most have the true median between them in ${figure(100 - 100 / 2 ** (fewest - 1))} % of all runs, ` +
    'and no interval of theirs can promise more: what is near 1 wants more repeats.'
  return [...lines, `What is compared was measured ${count}.`, ...(fewest < REPEATS_FOR_95 ? [few] : [])]
}

/** Load per core above which other programs affect the figures. */
const LOAD_QUIET_PER_CORE = 0.25
/** Stolen CPU time above which other virtual machines affect the figures. */
const STOLEN_QUIET_PER_MILLE = 10

function machineLines({ loadBefore, cores, stolenPerMille }: Machine): readonly string[] {
  const load = `Load of the machine in the minute before: ${loadBefore} on ${counted(cores, 'core')}`
  const isQuiet = loadBefore <= cores * LOAD_QUIET_PER_CORE
  const stolen =
    isTaken(stolenPerMille) && stolenPerMille > STOLEN_QUIET_PER_MILLE
      ? [
          `The host took ${stolenPerMille / 10} % of the CPU time of this virtual machine since its boot: latencies and rates suffer from it.`,
        ]
      : []
  return [
    isQuiet
      ? `${load}: quiet.`
      : `${load}: it was busy with something else. Trust ratios more than rates, and rates more than latencies.`,
    ...stolen,
  ]
}

export function facts({ at, command, machine, versions, took_seconds }: ResultsFile): Markup {
  const rows: readonly (readonly [string, Markup | string])[] = [
    ['Command', html`<code>${command}</code>`],
    ['Started', `${at.slice(0, 16).replace('T', ' ')} UTC, took ${duration(took_seconds)}`],
    ['Machine', `${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB`],
    ['System', `Linux ${machine.kernel}, glibc ${machine.glibc}, Node ${machine.node}`],
    [
      'Load before',
      `${machine.loadBefore}${isTaken(machine.stolenPerMille) ? `; the host took ${machine.stolenPerMille / 10} % since boot` : ''}`,
    ],
    ['Versions', listed(Object.entries(versions).map(([name, version]) => `${name} ${version}`))],
  ]
  return html`<dl class="facts">${rows.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`
}
