import { short } from '../short.ts'
import { program } from './drain-last.ts'

await short('drain-last', program)
