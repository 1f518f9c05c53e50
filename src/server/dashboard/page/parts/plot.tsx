import { h, type ComponentChild } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'

export interface PlotLine {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** Name of a custom property of the style sheet: `line-1`, or `line-bad` for failures. */
  readonly colour: string
}

export interface PlotProps {
  readonly title: string
  /** Seconds since 1970, ascending. */
  readonly at: readonly number[]
  readonly lines: readonly PlotLine[]
  format(value: number | null | undefined): string
}

const HEIGHT = 168
const AXIS = 60
const TIME_AXIS = 26
const TIME_SPACE = 80
const MINUTE_S = 60
const FONT = '11px system-ui, sans-serif'
/** Sent to plots by the theme switch of the page. */
export const THEME_EVENT = 'sluice-theme'

/** A plot over time in the colors of the page; its text alternative gives the last values. */
export function Plot({ title, at, lines, format }: PlotProps): ComponentChild {
  const place = useRef<HTMLDivElement | null>(null)
  const plot = useRef<uPlot | null>(null)
  const data: uPlot.AlignedData = [[...at], ...lines.map(({ values }) => [...values])]
  const latest = useRef(data)
  latest.current = data
  const [hovered, setHovered] = useState<number | null>(null)
  const names = lines.map(({ name, colour }) => `${name} ${colour}`).join()
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, { lines, format, setHovered }), latest.current, element)
    }
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    const dark = matchMedia('(prefers-color-scheme: dark)')
    draw()
    resize.observe(element)
    dark.addEventListener('change', draw)
    document.addEventListener(THEME_EVENT, draw)
    return () => {
      resize.disconnect()
      dark.removeEventListener('change', draw)
      document.removeEventListener(THEME_EVENT, draw)
      plot.current?.destroy()
      plot.current = null
    }
  }, [names])
  useLayoutEffect(() => plot.current?.setData(latest.current), [at, lines])
  const lastValues = lines.map(({ name, values }) => `${name} ${format(values.at(-1))}`).join(', ')
  const shown = hovered !== null && hovered < at.length ? hovered : null
  return (
    <figure class="plot">
      <figcaption>
        {title}
        <span class="legend">
          {shown !== null && <span>{timeText(at[shown] ?? 0)}</span>}
          {lines.map(({ name, colour, values }) => (
            <span key={name}>
              <i class={colour} />
              {`${name} `}
              <b>{format(values.at(shown ?? -1))}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} class="canvas" role="img" aria-label={`${title}. Last: ${lastValues}`} />
    </figure>
  )
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString('en-GB')
}

interface Drawn extends Pick<PlotProps, 'lines' | 'format'> {
  setHovered(index: number | null): void
}

function optionsOf(element: HTMLElement, { lines, format, setHovered }: Drawn): uPlot.Options {
  const colour = colourOf(element)
  const axis: uPlot.Axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('rule'), width: 1 },
    ticks: { show: false },
    font: FONT,
    labelFont: FONT,
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false } },
    padding: [8, 28, 0, 0],
    hooks: { setCursor: [(drawn) => setHovered(drawn.cursor.idx ?? null)] },
    scales: {
      // At least a minute, so that the first views do not fill the plot.
      x: { range: (_plot, min, max) => [Math.min(min, max - MINUTE_S), max] },
      y: { range: (_plot, _min, max) => [0, max === null || max <= 0 ? 1 : max * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: TIME_AXIS,
        space: TIME_SPACE,
        values: (_plot, splits) => splits.map(timeText),
      },
      { ...axis, size: AXIS, values: (_plot, splits) => splits.map((value) => format(value)) },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => ({
        label: line.name,
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: false },
      })),
    ],
  }
}

/** Resolves the style sheet's colors for a canvas: a property that depends on the dark or light theme can only be resolved on an element. */
function colourOf(parent: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('i')
    probe.style.color = `var(--${name})`
    parent.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
