import { program } from './loads.ts'
import { short } from '../short.ts'

await short('loads', program)
