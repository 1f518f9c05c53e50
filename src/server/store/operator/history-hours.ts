import type { HistoryEvent } from '../../../schemas/operator/history.ts'
import type { HistoryHour, HourDimension, HoursRead } from '../../ports/operator/history.ts'
import type { Queryable, Sql } from '../base/open.ts'
import { HISTORY_EVENTS_MAX, HISTORY_HOURS_KEPT } from '../../../schemas/operator/admin-port-limits.ts'

/** Writes an hour of a node, and replaces an earlier version of it from the same run. Throws the errors of Postgres. */
export async function keepHistoryHour(
  sql: Sql,
  node: string,
  { run, hourS, seconds, rows, events }: HistoryHour,
): Promise<void> {
  const wanted = rows.map(({ dimension, name, figures }) => ({
    dimension,
    name,
    figures: `{${figures.join(',')}}`,
    events: dimension === 'all' ? events.map((event) => ({ ...event })) : null,
  }))
  await sql.begin(async (tx) => {
    await tx`DELETE FROM history_hours WHERE hour = to_timestamp(${hourS}) AND node = ${node} AND run = ${run}`
    await tx`
      INSERT INTO history_hours (hour, node, run, dimension, name, seconds, figures, events)
      SELECT to_timestamp(${hourS}), ${node}, ${run}, r.dimension, r.name, ${seconds}::int, r.figures::float8[], r.events
      FROM jsonb_to_recordset(${tx.json(wanted)}) AS r (dimension text, name text, figures text, events jsonb)`
  })
}

export interface HoursInput {
  readonly dimension: HourDimension
  /** Reads only this name; left out: all names. */
  readonly name?: string
  readonly sinceS: number
  readonly untilS: number
  /** Positions of the first and the last figure, from 1. */
  readonly places: readonly [first: number, last: number]
  /** Number of names with their own sums. */
  readonly namesMax: number
}

/** Sums over all nodes. The names with the largest sums are selected in the database, since a month of all names would be a very long answer. */
export async function readHistoryHours(sql: Queryable, input: HoursInput): Promise<HoursRead> {
  const { dimension, name, sinceS, untilS, places, namesMax } = input
  const [first, last] = places
  const range = sql`hour >= to_timestamp(${sinceS}) AND hour < to_timestamp(${untilS})`
  const known = await sql<HoursRead['known'][number][]>`
    SELECT extract(epoch FROM hour)::float8 AS "hourS", max(seconds)::float8 AS seconds FROM (
      SELECT hour, sum(seconds) AS seconds FROM history_hours WHERE dimension = 'all' AND ${range} GROUP BY hour, node) AS n
    GROUP BY hour`
  const named = await sql<HoursRead['named'][number][]>`
    WITH found AS (
      SELECT hour, name, figures[${first}::int:${last}::int] AS figures FROM history_hours
      WHERE dimension = ${dimension} AND ${range} ${name === undefined ? sql`` : sql`AND name = ${name}`}),
    weighed AS (
      SELECT name, sum(figure) AS weight FROM found, unnest(figures) AS figure WHERE name <> '' GROUP BY name),
    shown AS (SELECT name FROM weighed WHERE weight > 0 ORDER BY weight DESC, name LIMIT ${namesMax}),
    sums AS (
      SELECT coalesce(shown.name, '') AS name, hour, place, sum(figure) AS sum
      FROM found LEFT JOIN shown USING (name), unnest(found.figures) WITH ORDINALITY AS f (figure, place)
      WHERE figure > 0 GROUP BY 1, hour, place)
    SELECT name, json_agg(json_build_array(extract(epoch FROM hour)::float8, place, sum)) AS sums FROM sums GROUP BY name`
  const events = await sql<HistoryEvent[]>`
    SELECT e.at, e.kind, e.text FROM history_hours AS h,
      jsonb_to_recordset(coalesce(h.events, '[]')) AS e (at text, kind text, text text)
    WHERE dimension = 'all' AND ${range} ORDER BY e.at DESC LIMIT ${HISTORY_EVENTS_MAX}`
  return { known, named, events: events.toReversed() }
}

/** Removes hours that are too old to be kept. @returns number of rows */
export async function pruneHistoryHours(sql: Queryable): Promise<number> {
  const { count } =
    await sql`DELETE FROM history_hours WHERE hour < clock_timestamp() - ${HISTORY_HOURS_KEPT}::int * interval '1 hour'`
  return count
}
