// Documents as pdfkit, pdf-lib and jsPDF write them: `node make-pdf.mjs <folder> <count>`.
import { once } from 'node:events'
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { jsPDF } from 'jspdf'
import PDFKit from 'pdfkit'
import { PDFDocument, StandardFonts } from 'pdf-lib'

const [folder, countText] = process.argv.slice(2)
const text = (nth) => `Page ${nth}: `.padEnd(50 + 31 * (nth % 60), 'the quick brown fox, ')
const place = (program, nth) => {
  mkdirSync(`${folder}/${program}`, { recursive: true })
  return `${folder}/${program}/${nth}.pdf`
}

async function kit(nth) {
  const versions = ['1.3', '1.4', '1.5', '1.6', '1.7']
  const document = new PDFKit({
    pdfVersion: versions[nth % 5],
    compress: nth % 2 === 0,
    ...(nth % 7 === 0 ? { userPassword: '', ownerPassword: 'x' } : {}),
  })
  const stream = document.pipe(createWriteStream(place('pdfkit', nth)))
  for (let page = 0; page <= nth % 3; page++) {
    if (page > 0) document.addPage()
    document
      .fontSize(12)
      .text(text(nth + page))
      .circle(200, 300, 40)
      .fill('red')
  }
  if (nth % 5 === 0) document.file(Buffer.from('a,b\n1,2\n'), { name: 'a.csv' })
  document.end()
  await once(stream, 'close')
}

async function lib(nth) {
  const document = await PDFDocument.create()
  const font = await document.embedFont(StandardFonts.Helvetica)
  for (let page = 0; page <= nth % 4; page++)
    document.addPage().drawText(text(nth).slice(0, 80), { x: 50, y: 500, size: 12, font })
  if (nth % 4 === 0) await document.attach(Buffer.from('hello'), 'a.txt', { mimeType: 'text/plain' })
  if (nth % 3 === 0) document.getForm().createTextField('a').addToPage(document.getPage(0))
  writeFileSync(place('pdf-lib', nth), await document.save({ useObjectStreams: nth % 2 === 0 }))
}

function js(nth) {
  const document = new jsPDF({
    compress: nth % 2 === 0,
    orientation: nth % 3 === 0 ? 'landscape' : 'portrait',
    putOnlyUsedFonts: nth % 4 === 0,
  })
  document.text(document.splitTextToSize(text(nth), 150), 20, 20)
  for (let page = 0; page < nth % 3; page++) document.addPage().rect(20, 20, 10 + nth, 10)
  writeFileSync(place('jspdf', nth), Buffer.from(document.output('arraybuffer')))
}

for (let nth = 0; nth < Number(countText); nth++) {
  await kit(nth)
  await lib(nth)
  js(nth)
}
