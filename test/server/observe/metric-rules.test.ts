import { readFileSync } from 'node:fs'
import t from 'tap'
import { metricFamilies, type MetricFamily } from '../../support/nodes/metric-families.ts'
import { ROOT } from '../../support/source.ts'

/** The rules of `promtool check metrics`, and those of help texts that are read without the page. */
const RULES: Readonly<Record<string, (metric: MetricFamily) => boolean>> = {
  'the help is a sentence': ({ help }) => /^[A-Z1].*[^.]\.$/.test(help),
  'the help names each label': ({ help, labels }) =>
    labels.every((label) => new RegExp(`\\b${label}\\b`, 'i').test(help)),
  'the help names the seconds or bytes of the name': ({ name, help }) =>
    ['seconds', 'bytes'].every((unit) => !nounsOf(name).includes(unit) || UNIT_WORDS.test(help)),
  'the name is in lower case with underscores': ({ name, labels }) =>
    [name, ...labels].every((text) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(text)),
  'counters alone end in _total': ({ name, type }) => name.endsWith('_total') === (type === 'counter'),
  'the endings of histograms and summaries are theirs': ({ name }) => !/_(bucket|count|sum|info)$/.test(name),
  'the labels of histograms and summaries are theirs': ({ labels }) =>
    labels.every((label) => label !== 'le' && label !== 'quantile'),
  'no type is in the name': ({ name, type }) =>
    !nounsOf(name).some((noun) => noun === type || TYPES.has(noun)),
  'no unit is abbreviated': ({ name }) => !nounsOf(name).some((noun) => ABBREVIATIONS.has(noun)),
  'units are base units': ({ name }) => !nounsOf(name).some((noun) => OTHER_UNITS.has(noun)),
  'a unit is the end of the name': ({ name }) =>
    !/_(seconds|bytes|usd)_(?!total$)/.test(name) || /_(timestamp_seconds|bytes_waiting)$/.test(name),
  'ages, delays and flags of processes have no sum': ({ name, type, help, aggregator }) =>
    type !== 'gauge' || aggregator !== 'sum' || !(name.endsWith('_seconds') || help.startsWith('1 while')),
}

const UNIT_WORDS = /\b(seconds|bytes|Unix time)\b/i
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
const ABBREVIATIONS = new Set(
  ['s', 'ms', 'us', 'ns', 'sec', 'secs', 'm', 'min', 'mins', 'h', 'hr', 'd'].concat([
    'b',
    'kb',
    'mb',
    'gb',
    'tb',
    'pb',
    'kib',
    'mib',
    'gib',
    'pct',
  ]),
)
const OTHER_UNITS = new Set(
  ['nanoseconds', 'microseconds', 'milliseconds', 'minutes', 'hours', 'days', 'weeks', 'percent'].concat([
    'kilobytes',
    'megabytes',
    'gigabytes',
    'kibibytes',
    'mebibytes',
    'gibibytes',
    'bits',
    'cents',
    'nano',
  ]),
)

const nounsOf = (name: string): readonly string[] => name.split('_')

function brokenBy(metric: MetricFamily): readonly string[] {
  return Object.entries(RULES).flatMap(([rule, holds]) => (holds(metric) ? [] : [`${metric.name}: ${rule}`]))
}

t.test('every metric follows the rules of promtool, and its help does not refer to a page', (t) => {
  t.same(metricFamilies().flatMap(brokenBy), [])
  t.end()
})

t.test('the rules cover exactly the metrics on the metrics page', (t) => {
  const page = readFileSync(`${ROOT}docs/operate/metrics.md`, 'utf8')
  const named = new Set([...page.matchAll(/`((?:sluice|process)_\w+)`/g)].map(([, name = '']) => name))
  t.same([...named].sort(), [...new Set(metricFamilies().map(({ name }) => name))].sort())
  t.end()
})

t.test('each rule detects a metric that breaks it', (t) => {
  const sound: MetricFamily = {
    ...{ name: 'sluice_wait_seconds', help: 'Wait in seconds, by front.', type: 'gauge' },
    ...{ labels: ['front'], aggregator: 'max' },
  }
  t.same(brokenBy(sound), [])
  const breaking: readonly (readonly [string, Partial<MetricFamily>])[] = [
    ['the help is a sentence', { help: 'wait in seconds by front' }],
    ['the help names each label', { labels: ['front', 'pool'] }],
    ['the help names the seconds or bytes of the name', { help: 'Wait, by front.' }],
    ['the name is in lower case with underscores', { name: 'sluice_waitTime_seconds' }],
    ['counters alone end in _total', { type: 'counter' }],
    ['the endings of histograms and summaries are theirs', { name: 'sluice_wait_sum' }],
    ['the labels of histograms and summaries are theirs', { labels: ['le'], help: 'Seconds, by le.' }],
    ['no type is in the name', { name: 'sluice_wait_gauge' }],
    ['no unit is abbreviated', { name: 'sluice_wait_ms' }],
    ['units are base units', { name: 'sluice_wait_milliseconds' }],
    ['a unit is the end of the name', { name: 'sluice_seconds_wait' }],
    ['ages, delays and flags of processes have no sum', { aggregator: 'sum' }],
  ]
  t.same(
    breaking.map(([, change]) => brokenBy({ ...sound, ...change })),
    breaking.map(([rule, { name = sound.name }]) => [`${name}: ${rule}`]),
  )
  t.same(
    breaking.map(([rule]) => rule),
    Object.keys(RULES),
  )
  t.end()
})
