/* Draws the curves with uPlot, and offers the results for download. Everything else of the page stands in its HTML. */
;(() => {
  'use strict'
  const text = document.getElementById('data').textContent
  const results = JSON.parse(text)
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const HEIGHT = 300
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]]
  const MARKERS = ['solid', 'dashed', 'dotted', 'double']

  const link = document.getElementById('download')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))

  const colour = (name) => () => getComputedStyle(root).getPropertyValue(name).trim()
  const format = (value) => {
    if (value === null || value === undefined) return '–'
    const size = Math.abs(value)
    const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    return value.toLocaleString('en-US', { maximumFractionDigits: digits })
  }

  /** One column of x for all lines, null where a line has no point. */
  function columns(lines, isLog) {
    const isDrawn = (y) => Number.isFinite(y) && (!isLog || y > 0)
    const xs = [...new Set(lines.flatMap(({ points }) => points.map(([x]) => x)))]
      .filter((x) => x !== null)
      .sort((a, b) => a - b)
    return [
      xs,
      ...lines.map(({ points }) => {
        const values = new Map(points)
        return xs.map((x) => (isDrawn(values.get(x)) ? values.get(x) : null))
      }),
    ]
  }

  /** @param strokes colour and dash of each line: the same subject has the same in every plot */
  function series(lines, unit, strokes) {
    return [
      { label: unit, value: (_, value) => format(value) },
      ...lines.map(({ name, points }, line) => ({
        label: name,
        stroke: colour(`--line-${strokes[line][0]}`),
        width: name === 'sluice' ? 3 : 2,
        dash: DASHES[strokes[line][1]],
        spanGaps: true,
        points: { show: points.length <= 40, size: 7, fill: colour('--paper') },
        value: (_, value) => format(value),
      })),
    ]
  }

  function axis(label, size) {
    return {
      size,
      label,
      labelSize: 20,
      stroke: colour('--muted'),
      grid: { stroke: colour('--rule'), width: 1 },
      ticks: { stroke: colour('--rule'), width: 1 },
      font: '12px system-ui, sans-serif',
      labelFont: '12px system-ui, sans-serif',
      values: (_, values) => values.map((value) => (value === null ? '' : format(value))),
    }
  }

  /** As wide as the longest figure on it. */
  const sizeY = (_, values) =>
    Math.max(36, 7 * Math.max(0, ...(values ?? []).map((value) => value.length)) + 18)

  /** There is no half a worker. */
  const wholeSteps = (xs) =>
    xs.every(Number.isInteger)
      ? {
          incrs: [1, 2, 5]
            .flatMap((n) => Array.from({ length: 10 }, (_, at) => n * 10 ** at))
            .sort((a, b) => a - b),
        }
      : {}

  function draw(place) {
    const { scenario, curve, scale } = place.dataset
    const strokes = JSON.parse(place.dataset.strokes)
    const { x, y, lines } = results.scenarios[Number(scenario)].curves[Number(curve)]
    const isLog = scale === 'log'
    const data = columns(lines, isLog)
    const plot = new uPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        series: series(lines, x, strokes),
        scales: {
          x: { time: false },
          y: isLog
            ? { distr: 3 }
            : { range: (_, least, most) => [Math.min(0, least), most > 0 ? most * 1.08 : 1] },
        },
        axes: [{ ...axis(x, 30), ...wholeSteps(data[0]) }, axis(y, sizeY)],
        cursor: { drag: { x: true, y: false } },
        legend: {
          markers: { dash: (_, index) => MARKERS[index === 0 ? 0 : strokes[index - 1][1]] },
        },
      },
      data,
      place,
    )
    readByKeys(place, plot, { data, lines, x })
    switchByKeys(place, plot)
    new ResizeObserver(() => {
      if (place.clientWidth > 0 && place.clientWidth !== plot.width)
        plot.setSize({ width: place.clientWidth, height: HEIGHT })
    }).observe(place)
    return plot
  }

  /** Arrow keys go from point to point, and what stands there is said. */
  function readByKeys(place, plot, { data, lines, x }) {
    const said = place.parentElement.querySelector('.reading')
    const last = data[0].length - 1
    let at = -1
    const steps = {
      ArrowLeft: () => Math.max(0, at - 1),
      ArrowRight: () => Math.min(last, at + 1),
      Home: () => 0,
      End: () => last,
      Escape: () => -1,
    }
    place.addEventListener('keydown', (event) => {
      const step = event.target === place ? steps[event.key] : undefined
      if (step === undefined) return
      event.preventDefault()
      at = step()
      const isOut = at < 0
      plot.setCursor({ left: isOut ? -10 : plot.valToPos(data[0][at], 'x'), top: isOut ? -10 : 10 })
      said.textContent = isOut
        ? ''
        : `${x} ${format(data[0][at])}: ${lines.map(({ name }, line) => `${name} ${format(data[line + 1][at])}`).join(', ')}`
    })
  }

  /** A line is put away and taken back by its name in the legend, with the keyboard too. */
  function switchByKeys(place, plot) {
    place.querySelectorAll('.u-legend .u-series th').forEach((name, index) => {
      if (index === 0) return
      const tell = () => name.setAttribute('aria-pressed', String(plot.series[index].show))
      name.tabIndex = 0
      name.setAttribute('role', 'button')
      tell()
      name.addEventListener('click', () => queueMicrotask(tell))
      name.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        name.click()
      })
    })
  }

  const plots = [...document.querySelectorAll('.plot')].map(draw)
  const redraw = () => plots.forEach((plot) => plot.redraw(false, true))
  dark.addEventListener('change', redraw)
  /* Paper is light, whatever the screen is. */
  addEventListener('beforeprint', () => {
    root.dataset.paper = ''
    redraw()
  })
  addEventListener('afterprint', () => {
    delete root.dataset.paper
    redraw()
  })
})()
