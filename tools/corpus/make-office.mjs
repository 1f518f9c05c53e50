// Workbooks, documents and slides as SheetJS, exceljs, docx and pptxgenjs write them: `node make-office.mjs <folder> <count>`.
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as docx from 'docx'

const require = createRequire(import.meta.url)
const ExcelJS = require('exceljs')
const PptxGenJS = require('pptxgenjs')
const XLSX = require('xlsx')

const [folder, countText] = process.argv.slice(2)
const count = Number(countText)
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const words = 'Amount Region naïve “quoted” 東京 Straße total, net; gross\tsum 12.5 -3 =A1 0042'.split(' ')
const rows = (nth) =>
  Array.from({ length: 2 + (nth % 40) }, (_, row) =>
    Array.from({ length: 1 + (nth % 7) }, (_, at) =>
      (row * at) % 3 === 0 ? row * 1.5 : words[(nth + row + at) % words.length],
    ),
  )
const place = (program, name) => {
  mkdirSync(`${folder}/${program}`, { recursive: true })
  return `${folder}/${program}/${name}`
}

function sheetjs(nth) {
  const book = XLSX.utils.book_new()
  for (let sheet = 0; sheet <= nth % 3; sheet++)
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows(nth + sheet)), `S${sheet}`)
  if (nth % 4 === 0) book.Props = { Title: 'A title', Author: 'Anna' }
  if (nth % 5 === 0) book.Sheets.S0.A1.c = [{ a: 'Anna', t: 'a comment' }]
  const options = { bookSST: nth % 2 === 0, compression: nth % 3 === 0, cellDates: true }
  XLSX.writeFile(book, place('sheetjs', `${nth}.xlsx`), options)
  if (nth % 10 === 0)
    for (const type of ['xlsm', 'xlsb', 'xls', 'ods', 'fods', 'csv', 'html'])
      XLSX.writeFile(book, place('sheetjs', `${nth}.${type}`), { ...options, bookType: type })
}

async function excel(nth) {
  const isStreamed = nth % 2 === 0
  const name = place('exceljs', `${nth}.xlsx`)
  const book = isStreamed
    ? new ExcelJS.stream.xlsx.WorkbookWriter({
        stream: createWriteStream(name),
        useStyles: true,
        useSharedStrings: nth % 4 === 0,
      })
    : new ExcelJS.Workbook()
  const sheet = book.addWorksheet('Data', { views: [{ state: 'frozen', ySplit: 1 }] })
  for (const row of rows(nth)) {
    const added = sheet.addRow(row)
    if (isStreamed) added.commit()
  }
  if (!isStreamed && nth % 3 === 0) sheet.addImage(book.addImage({ buffer: png, extension: 'png' }), 'B2:C3')
  if (!isStreamed && nth % 5 === 0) sheet.getCell('A1').note = 'a note'
  await (isStreamed ? book.commit() : book.xlsx.writeFile(name))
}

async function word(nth) {
  const { Document, HeadingLevel, ImageRun, Packer, Paragraph, Table, TableCell, TableRow, TextRun } = docx
  const children = [
    new Paragraph({ text: `Title ${nth}`, heading: HeadingLevel.HEADING_1 }),
    ...rows(nth).map(
      (row) => new Paragraph({ children: [new TextRun({ text: row.join(' '), bold: nth % 2 === 0 })] }),
    ),
  ]
  if (nth % 3 === 0)
    children.push(
      new Paragraph({
        children: [new ImageRun({ type: 'png', data: png, transformation: { width: 9, height: 9 } })],
      }),
    )
  if (nth % 4 === 0)
    children.push(
      new Table({
        rows: [new TableRow({ children: [new TableCell({ children: [new Paragraph('cell')] })] })],
      }),
    )
  writeFileSync(
    place('docx', `${nth}.docx`),
    await Packer.toBuffer(new Document({ creator: 'Anna', sections: [{ children }] })),
  )
}

async function slides(nth) {
  const show = new PptxGenJS()
  for (let page = 0; page <= nth % 4; page++) {
    const slide = show.addSlide()
    slide.addText(rows(nth)[0].join(' '), { x: 1, y: 1, w: 5, h: 1 })
    if (nth % 3 === 0)
      slide.addTable(
        rows(nth)
          .slice(0, 4)
          .map((row) => row.map((text) => ({ text: String(text) }))),
        { x: 1, y: 2 },
      )
    if (nth % 4 === 0)
      slide.addChart(show.ChartType.bar, [{ name: 'a', labels: ['x', 'y'], values: [1, 2] }], {
        x: 1,
        y: 3,
        w: 3,
        h: 2,
      })
    if (nth % 5 === 0)
      slide.addImage({ data: `image/png;base64,${png.toString('base64')}`, x: 1, y: 1, w: 1, h: 1 })
  }
  writeFileSync(
    place('pptxgenjs', `${nth}.pptx`),
    await show.write({ outputType: 'nodebuffer', compression: nth % 2 === 0 }),
  )
}

for (let nth = 0; nth < count; nth++) {
  sheetjs(nth)
  await excel(nth)
  await word(nth)
  await slides(nth)
}
