import { program } from './spend.ts'
import { short } from '../short.ts'

await short('spend', program)
